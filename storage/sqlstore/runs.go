package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// runRow is the row of a run in runs, joined with its row in origins.
type runRow struct {
	unread

	N          int64  `db:"n"`
	ID         string `db:"id"`
	Flow       string `db:"flow"`
	Definition string `db:"definition"`
	Structure  string `db:"structure"`
	Parent     string `db:"parent"`
	Root       string `db:"root"`
	Depth      int64  `db:"depth"`
	Trace      string `db:"trace"`
	Job        string `db:"job"`
	Key        string `db:"key"`
	Continues  string `db:"continues"`
	Created    moment `db:"created"`
	InputRef   int64  `db:"input_ref"`
	Input      []byte `db:"input"`
	Attrs      []byte `db:"attrs"`
	Secrets    []byte `db:"secrets"`

	Seq     int64 `db:"seq"`
	Entries int64 `db:"entries"`
	Events  int64 `db:"events"`
	Refs    int64 `db:"refs"`
	Undos   int64 `db:"undos"`

	Iterations int64 `db:"iterations"`
	Waited     int64 `db:"waited"`
	Bytes      int64 `db:"bytes"`

	Updated   moment `db:"updated"`
	Fence     int64  `db:"fence"`
	Claim     string `db:"claim"`
	Owner     string `db:"owner"`
	Wakeups   int64  `db:"wakeups"`
	Due       moment `db:"due"`
	Bucket    int64
	State     uint8  `db:"state"`
	Outcome   uint8  `db:"outcome"`
	Undone    uint8  `db:"undone"`
	Hold      bool   `db:"hold"`
	Started   moment `db:"started"`
	Ended     moment `db:"ended"`
	OutputRef int64  `db:"output_ref"`
	Output    []byte `db:"output"`
	Failure   []byte `db:"failure"`
	Code      []byte `db:"code"`
	Memory    []byte `db:"memory"`
	Lost      int64  `db:"lost"`
	Proof     int64  `db:"proof"`
	Trial     uint8  `db:"trial"`
	Died      moment `db:"died"`
	DiedBy    []byte `db:"died_by"`
	Recent    []byte `db:"recent"` // only set if the run is loaded to be resumed

	Has parts `db:"has"`
}

// parts is the set of tables that have rows of a run. The store does not query the others.
type parts uint8

const (
	hasLabels parts = 1 << iota
	hasAtoms
	hasSettled
	hasMessages
	hasTokens // open tokens
	hasTimers
	hasKey
)

const (
	selectRuns = `SELECT ` + runColumns + fromRuns
	runColumns = `r.n, o.id, o.flow, o.definition, o.structure, o.parent, o.root, o.depth, o.trace, o.job, o.key,
		o.continues, r.created,
		o.input_ref, o.input, o.attrs, o.secrets,
  r.seq, r.entries, r.events, r.refs, r.undos, r.iterations, r.waited, r.bytes,
  r.updated, r.fence, r.claim, r.owner, r.wakeups, r.due, coalesce(r.bucket, 0) AS bucket,
  r.state, r.outcome, r.undone, r.hold, r.started, r.ended, r.output_ref, r.output, r.failure, r.code, r.memory, r.lost,
  r.proof, r.trial, r.died, r.died_by,
  CASE WHEN EXISTS (SELECT 1 FROM labels WHERE run = r.n) THEN ` + partLabels + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM atoms WHERE run = r.n) THEN ` + partAtoms + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM settled WHERE run = r.n) THEN ` + partSettled + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM messages WHERE run = r.n) THEN ` + partMessages + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM tokens WHERE run = r.n
    AND state = ` + tokenOpen + `) THEN ` + partTokens + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM timers WHERE run = r.n) THEN ` + partTimers + ` ELSE 0 END AS has`
	fromRuns = `
FROM origins o JOIN runs r ON r.n = o.n`
	// loadRuns is selectRuns with the newest records, which a process needs to resume a run.
	loadRuns = `SELECT r.recent, ` + runColumns + fromRuns
)

const (
	selectRun    = loadRuns + ` WHERE o.id = $1`
	selectNumber = `SELECT n FROM origins WHERE id = $1`
	selectLabels = `SELECT key, value FROM labels WHERE run = $1 AND key <> ''`
)

// findRun returns the row of a run.
func findRun(ctx context.Context, s *session, id string) (*runRow, error) {
	var row runRow
	if err := s.Get(ctx, &row, selectRun, id); err != nil {
		return nil, ofRun(id, corrupt(notFound(err, "run", id)))
	}
	return &row, nil
}

// numberOf returns the number of a run.
func numberOf(ctx context.Context, s *session, id string) (int64, error) {
	var n int64
	err := s.Get(ctx, &n, selectNumber, id)
	return n, notFound(err, "run", id)
}

// notFound turns sql.ErrNoRows into an error that names what was not found.
func notFound(err error, what, id string) error {
	// PostgreSQL refuses texts that it cannot keep, so it keeps nothing under them.
	kept := utf8.ValidString(id) && strings.IndexByte(id, 0) < 0
	if errors.Is(err, storage.ErrNotFound) || err != nil && !kept {
		return fmt.Errorf("%w: %s %q", storage.ErrNotFound, what, id)
	}
	return err
}

// record decodes the row. It reads labels and large values from their tables.
func (r *runRow) record(ctx context.Context, s *session) (storage.Run, error) {
	run, err := r.decode(ctx, s, false)
	if err = ofRun(r.ID, err); err == nil && r.Has&hasLabels != 0 {
		run.Labels, err = readLabels(ctx, s, r.N)
	}
	return run, err
}

// decode returns the record without its labels. If brief is true, it also lacks large values.
func (r *runRow) decode(ctx context.Context, s *session, brief bool) (storage.Run, error) {
	wrong := r.damage
	failure, unreadable := codec.DecodeFailure(r.Failure)
	by, err := codec.DecodeProcess(r.DiedBy)
	wrong = errors.Join(wrong, unreadable, err)
	if !states.Flow(r.State).Known() {
		wrong = errors.Join(wrong, fmt.Errorf("%w: state %d", storage.ErrCorrupt, r.State))
		r.State = 0
	}
	run := storage.Run{
		ID: r.ID, Number: r.N, Flow: r.Flow, Definition: r.Definition, Structure: r.Structure, Parent: r.Parent, Root: r.Root,
		Depth: r.Depth, Trace: r.Trace, Job: r.Job, Key: r.Key, Continues: r.Continues,
		State: states.Flow(r.State), Outcome: storage.Outcome(r.Outcome), Undo: storage.Undone(r.Undone), Hold: r.Hold,
		Input:   storage.Held{Ref: r.InputRef, Data: r.Input},
		Output:  storage.Held{Ref: r.OutputRef, Data: r.Output},
		Failure: failure, Attrs: r.Attrs,
		Created: r.Created.time(), Started: r.Started.time(), Updated: r.Updated.time(), Ended: r.Ended.time(),
		Seq: r.Seq, Entries: r.Entries, Events: r.Events, Refs: r.Refs, Undos: r.Undos, Growth: r.growth(), Memory: r.Memory,
		Lost:  r.Lost,
		Fence: r.Fence, ClaimID: r.Claim, Owner: r.Owner, Wakeups: r.Wakeups, Due: r.Due.time(),
		CrashLoop: storage.CrashLoop{Proof: r.Proof, Isolation: storage.Isolation(r.Trial), Died: r.Died.time(), By: by},
	}
	if err := codec.ReadSecrets(r.Secrets, &run); err != nil {
		wrong = errors.Join(wrong, fmt.Errorf("secrets: %w", err))
	}
	payload := payloadsOf(ctx, s, r.N)
	for _, held := range []*storage.Held{&run.Input, &run.Output} {
		if held.Ref != 0 && !brief {
			if held.Data, err = payload(held.Ref); err != nil && !errors.Is(err, storage.ErrCorrupt) {
				return storage.Run{}, err
			}
			wrong = errors.Join(wrong, err)
		}
	}
	return run, wrong
}

// parts returns which tables have rows of the run.
func (r *runRow) parts() parts {
	if r.Key != "" {
		return r.Has | hasKey
	}
	return r.Has
}

func (r *runRow) growth() storage.Growth {
	return storage.Growth{Iterations: r.Iterations, Waited: r.Waited, Bytes: r.Bytes}
}

// readLabels returns the labels of a run.
func readLabels(ctx context.Context, s *session, n int64) (map[string]string, error) {
	var rows []labelRow
	if err := s.All(ctx, &rows, selectLabels, n); err != nil {
		return nil, err
	}
	return labelsFrom(rows), nil
}

type labelRow struct{ Key, Value string }

func labelsFrom(rows []labelRow) map[string]string {
	labels := make(map[string]string, len(rows))
	for _, l := range rows {
		labels[l.Key] = l.Value
	}
	return labels
}

// Run implements [backend.Reader.Run].
func (s *store) Run(ctx context.Context, id string) (run storage.Run, err error) {
	whole := true
	err = s.glance(ctx, func(r *session) error {
		if !r.dialect.Posts { // most callers are about to create the run: a cheaper query shows that it does not exist
			if _, err := numberOf(ctx, r, id); err != nil {
				return err
			}
		}
		row, err := findRun(ctx, r, id)
		if err != nil {
			return err
		}
		if whole = row.InputRef == 0 && row.OutputRef == 0 && row.Has&hasLabels == 0; whole {
			run, err = row.record(ctx, r)
		}
		return err
	})
	if err != nil || whole {
		return run, err
	}
	err = s.view(ctx, func(r *session) error { // read again, so that the other tables are read in the same snapshot
		row, err := findRun(ctx, r, id)
		if err == nil {
			run, err = row.record(ctx, r)
		}
		return err
	})
	return run, err
}
