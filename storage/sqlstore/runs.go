package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// runRow is a run as it lies in runs and origins.
type runRow struct {
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
	Memory    []byte `db:"memory"`
	Lost      int64  `db:"lost"`
	Proof     int64  `db:"proof"`
	Trial     uint8  `db:"trial"`
	Died      moment `db:"died"`
	DiedBy    []byte `db:"died_by"`
	Recent    []byte `db:"recent"` // only of one that is to be gone on with

	Has parts `db:"has"`
}

// parts are the tables in which there are rows of a run: the others need not be
// asked.
type parts uint8

const (
	hasLabels parts = 1 << iota
	hasAtoms
	hasSettled
	hasMessages
	hasTokens // open ones
	hasTimers
)

const (
	selectRuns = `SELECT ` + runColumns + fromRuns
	runColumns = `r.n, o.id, o.flow, o.definition, o.structure, o.parent, o.root, o.depth, o.trace, o.job, o.created, o.input_ref, o.input, o.attrs, o.secrets,
  r.seq, r.entries, r.events, r.refs, r.undos, r.iterations, r.waited, r.bytes,
  r.updated, r.fence, r.claim, r.owner, r.wakeups, r.due, coalesce(r.bucket, 0) AS bucket,
  r.state, r.outcome, r.undone, r.hold, r.started, r.ended, r.output_ref, r.output, r.failure, r.memory, r.lost, r.proof, r.trial, r.died, r.died_by,
  CASE WHEN EXISTS (SELECT 1 FROM labels WHERE run = r.n) THEN ` + partLabels + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM atoms WHERE run = r.n) THEN ` + partAtoms + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM settled WHERE run = r.n) THEN ` + partSettled + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM messages WHERE run = r.n) THEN ` + partMessages + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM tokens WHERE run = r.n AND state = ` + tokenOpen + `) THEN ` + partTokens + ` ELSE 0 END
    + CASE WHEN EXISTS (SELECT 1 FROM timers WHERE run = r.n) THEN ` + partTimers + ` ELSE 0 END AS has`
	fromRuns = `
FROM origins o JOIN runs r ON r.n = o.n`
	// loadRuns is selectRuns with what is needed to go on.
	loadRuns = `SELECT r.recent, ` + runColumns + fromRuns
)

const (
	selectRun    = loadRuns + ` WHERE o.id = ?`
	selectNumber = `SELECT n FROM origins WHERE id = ?`
	selectLabels = `SELECT key, value FROM labels WHERE run = ?`
)

// findRun returns the row of a run.
func findRun(ctx context.Context, s *session, id string) (*runRow, error) {
	var row runRow
	if err := s.get(ctx, &row, selectRun, id); err != nil {
		return nil, notFound(err, "run", id)
	}
	return &row, nil
}

// numberOf returns the number of a run.
func numberOf(ctx context.Context, s *session, id string) (int64, error) {
	var n int64
	err := s.get(ctx, &n, selectNumber, id)
	return n, notFound(err, "run", id)
}

// notFound says what was not found.
func notFound(err error, what, id string) error {
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("%w: %s %q", storage.ErrNotFound, what, id)
	}
	return err
}

// record returns the run with everything filled in.
func (r *runRow) record(ctx context.Context, s *session) (storage.Run, error) {
	failure, err := codec.DecodeFailure(r.Failure)
	if err != nil {
		return storage.Run{}, fmt.Errorf("%w (run %q)", err, r.ID)
	}
	secrets, err := codec.DecodeSecrets(r.Secrets)
	if err != nil {
		return storage.Run{}, fmt.Errorf("%w (secrets of run %q)", err, r.ID)
	}
	by, err := codec.DecodeProcess(r.DiedBy)
	if err != nil {
		return storage.Run{}, fmt.Errorf("%w (run %q)", err, r.ID)
	}
	run := storage.Run{
		ID: r.ID, Flow: r.Flow, Definition: r.Definition, Structure: r.Structure, Parent: r.Parent, Root: r.Root, Depth: r.Depth, Trace: r.Trace, Job: r.Job,
		Secrets: secrets,
		State:   states.Flow(r.State), Outcome: storage.Outcome(r.Outcome), Undo: storage.Undone(r.Undone), Hold: r.Hold,
		Input:   storage.Held{Ref: r.InputRef, Data: r.Input},
		Output:  storage.Held{Ref: r.OutputRef, Data: r.Output},
		Failure: failure, Attrs: r.Attrs,
		Created: r.Created.time(), Started: r.Started.time(), Updated: r.Updated.time(), Ended: r.Ended.time(),
		Seq: r.Seq, Entries: r.Entries, Events: r.Events, Refs: r.Refs, Undos: r.Undos, Growth: r.growth(), Memory: r.Memory, Lost: r.Lost,
		Fence: r.Fence, ClaimID: r.Claim, Owner: r.Owner, Wakeups: r.Wakeups, Due: r.Due.time(),
		Suspicion: storage.Suspicion{Proof: r.Proof, Trial: storage.Trial(r.Trial), Died: r.Died.time(), By: by},
	}
	payload := payloadsOf(ctx, s, r.N)
	for _, held := range []*storage.Held{&run.Input, &run.Output} {
		if held.Ref != 0 {
			if held.Data, err = payload(held.Ref); err != nil {
				return storage.Run{}, err
			}
		}
	}
	if r.Has&hasLabels == 0 {
		return run, nil
	}
	run.Labels, err = readLabels(ctx, s, r.N)
	return run, err
}

func (r *runRow) growth() storage.Growth {
	return storage.Growth{Iterations: r.Iterations, Waited: r.Waited, Bytes: r.Bytes}
}

// readLabels returns the labels of a run.
func readLabels(ctx context.Context, s *session, n int64) (map[string]string, error) {
	var rows []struct{ Key, Value string }
	if err := s.all(ctx, &rows, selectLabels, n); err != nil {
		return nil, err
	}
	labels := make(map[string]string, len(rows))
	for _, l := range rows {
		labels[l.Key] = l.Value
	}
	return labels, nil
}

const (
	insertOrigin = `INSERT INTO origins (id, flow, definition, structure, parent, root, depth, trace, job, created, input_ref, input, attrs, secrets)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING n`
	// insertNumbered is the same for a run whose number is known before.
	insertNumbered = `INSERT INTO origins (n, id, flow, definition, structure, parent, root, depth, trace, job, created, input_ref, input, attrs, secrets)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	insertOriginRows = `INSERT INTO origins (n, id, flow, definition, structure, parent, root, depth, trace, job, created, input_ref, input, attrs, secrets)
SELECT v.n, v.id, v.flow, v.definition, v.structure, v.parent, v.root, v.depth, v.trace, v.job, v.created, v.input_ref, v.input, v.attrs, v.secrets`
	originTypes = `n bigint, id text, flow text, definition text, structure text, parent text, root text, depth bigint, trace text, job text,
  created bigint, input_ref bigint, input bytea, attrs bytea, secrets bytea`

	insertLabel = `INSERT INTO labels (run, key, value) VALUES (?, ?, ?)`
)

// createRun makes a run that was checked, and returns its number. With a commit it
// begins with that, if there is a place for it, and fails with errUnpassed when there
// is a run of that id: the commit may have made it itself.
func createRun(ctx context.Context, w *session, run *storage.Run, first *commit) (int64, error) {
	created := micros(orNow(run.Created))
	input := run.Input
	if len(input.Data) > storage.InlineLimit {
		input = storage.Held{Ref: 1}
	}
	taken := errUnpassed
	if first == nil {
		taken = fmt.Errorf("%w: run %q", storage.ErrExists, run.ID)
	}
	n, err := createOrigin(ctx, w, taken, run.ID, run.Flow, run.Definition, run.Structure, run.Parent, run.Root, run.Depth, run.Trace, run.Job,
		created, input.Ref, []byte(input.Data), []byte(run.Attrs), codec.EncodeSecrets(run.Secrets))
	if err != nil {
		return 0, err
	}
	if err := bindJob(ctx, w, run); err != nil {
		return 0, err
	}
	row := append(w.emptyArgs(), n)
	if first != nil && first.limited == nil {
		row = first.row(row)
	} else {
		row = createdArgs(row, run, input.Ref, created)
	}
	if err := w.post(ctx, nil, insertRun, row...); err != nil {
		return 0, err
	}
	if input.Ref != 0 {
		if err := w.post(ctx, nil, insertPayload, n, input.Ref, []byte(run.Input.Data)); err != nil {
			return 0, err
		}
	}
	for key, value := range run.Labels {
		if err := w.post(ctx, nil, insertLabel, n, key, value); err != nil {
			return 0, err
		}
	}
	w.bear(run.Root)
	return n, assign(ctx, w, n, run.Flow, run.Labels)
}

// createOrigin writes what a run was begun with, and returns the run's number. Where
// statements are sent together the number is asked for before, for all runs that
// share the transaction, so that none of them waits for it. It fails with taken when
// there is a run of that id.
func createOrigin(ctx context.Context, w *session, taken error, args ...any) (int64, error) {
	is := func(rows int64) error {
		if rows == 0 {
			return taken
		}
		return nil
	}
	if w.dialect.numbers == "" {
		made, n, err := w.insert(ctx, insertOrigin, args...)
		if err == nil {
			err = is(made)
		}
		return n, err
	}
	if err := w.reserve(ctx, 1); err != nil {
		return 0, err
	}
	n := w.numbers[0]
	w.numbers = w.numbers[1:]
	return n, w.post(ctx, is, insertNumbered, append([]any{n}, args...)...)
}

// reserve asks for numbers of new runs, unless there are so many.
func (s *session) reserve(ctx context.Context, n int) error {
	if n <= len(s.numbers) || s.dialect.numbers == "" {
		return nil
	}
	var more []int64
	err := s.all(ctx, &more, s.dialect.numbers, n-len(s.numbers))
	s.numbers = append(s.numbers, more...)
	return err
}

// Create makes a run.
func (s *Store) Create(ctx context.Context, run storage.Run) error {
	if err := run.Check(); err != nil {
		return err
	}
	return s.update(ctx, &write{
		makes: 1,
		do: func(ctx context.Context, w *session) error {
			_, err := createRun(ctx, w, &run, nil)
			return err
		},
		arrivals: wakeup.Moves,
	})
}

// Run returns one run.
func (s *Store) Run(ctx context.Context, id string) (run storage.Run, err error) {
	whole := true
	err = s.glance(ctx, func(r *session) error {
		if !r.dialect.posts { // of most that are asked for so there is nothing: they are about to be made
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
	err = s.view(ctx, func(r *session) error { // with what lies in other tables
		row, err := findRun(ctx, r, id)
		if err == nil {
			run, err = row.record(ctx, r)
		}
		return err
	})
	return run, err
}

// Runs lists runs.
func (s *Store) Runs(ctx context.Context, q storage.RunQuery) ([]storage.Run, error) {
	if !q.Due.IsZero() && !s.readOnly {
		if err := s.evictDead(ctx); err != nil {
			return nil, err
		}
	}
	var out []storage.Run
	err := s.view(ctx, func(r *session) error {
		var after *runRow
		if q.Before != "" {
			row, err := findRun(ctx, r, q.Before)
			if err != nil {
				return err
			}
			after = row
		}
		query, args := listRuns(q, after)
		var rows []runRow
		// Not prepared: the texts are many and listing is rare.
		if err := r.once(ctx, &rows, query, args...); err != nil {
			return err
		}
		for i := range rows {
			run, err := rows[i].record(ctx, r)
			if err != nil {
				return err
			}
			out = append(out, run)
		}
		return nil
	})
	return out, err
}

// listRuns returns the query that a RunQuery asks for, and its arguments.
func listRuns(q storage.RunQuery, after *runRow) (string, []any) {
	var where []string
	var args []any
	and := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	order := "r.n DESC"
	if q.Flow != "" {
		and("o.flow = ?", q.Flow)
	}
	if q.Top {
		and("o.parent = ''")
	}
	if len(q.States) > 0 {
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(q.States)), ", ")
		in := make([]any, len(q.States))
		for i, state := range q.States {
			in[i] = state
		}
		and("r.state IN ("+marks+")", in...)
	}
	for key, value := range q.Labels {
		and("r.n IN (SELECT run FROM labels WHERE key = ? AND value = ?)", key, value)
	}
	if !q.Due.IsZero() {
		order = "r.due, r.n"
		and("r.owner = '' AND r.n IN ("+dueNumbers+")", micros(q.Due), micros(q.Due))
		if after != nil {
			and("(r.due, r.n) > (?, ?)", micros(after.Due.time()), after.N)
		}
	} else if after != nil {
		and("r.n < ?", after.N)
	}
	text := selectRuns
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	text += " ORDER BY " + order
	if q.Limit > 0 {
		text += " LIMIT ?"
		args = append(args, q.Limit)
	}
	return text, args
}

// dueNumbers are the runs that are due, by the index of those in buckets and by that
// of the others.
const dueNumbers = `SELECT n FROM runs WHERE bucket IS NULL AND due <= ? UNION ALL SELECT n FROM runs WHERE bucket IS NOT NULL AND due <= ?`

const selectState = `SELECT r.n, r.state, r.owner, o.root FROM runs r JOIN origins o ON o.n = r.n WHERE o.id = ?`

// deleteAll deletes what belongs to a run, table by table.
var deleteAll = [...]string{
	`DELETE FROM labels WHERE run = ?`,
	`DELETE FROM atoms WHERE run = ?`,
	`DELETE FROM settled WHERE run = ?`,
	`DELETE FROM undo WHERE run = ?`,
	`DELETE FROM history WHERE run = ?`,
	`DELETE FROM payloads WHERE run = ?`,
	`DELETE FROM timers WHERE run = ?`,
	`DELETE FROM tokens WHERE run = ?`,
	`DELETE FROM messages WHERE run = ?`,
	`DELETE FROM message_keys WHERE run = ?`,
	`DELETE FROM transactions WHERE run = ?`,
	`DELETE FROM origins WHERE n = ?`,
	`DELETE FROM runs WHERE n = ?`,
}

// Purge deletes ended runs.
func (s *Store) Purge(ctx context.Context, runs ...string) (int, error) {
	purged := 0
	err := s.update(ctx, &write{alone: s.dialect.locks, runs: runs, do: func(ctx context.Context, w *session) error {
		purged = 0
		for _, id := range runs {
			gone, err := purge(ctx, w, id)
			if err != nil {
				return err
			}
			if gone {
				purged++
			}
		}
		return nil
	}})
	if err != nil {
		return 0, err
	}
	return purged, nil
}

func purge(ctx context.Context, w *session, id string) (bool, error) {
	var row struct {
		N     int64
		State uint8
		Owner string
		Root  string
	}
	if err := w.hold(ctx, id); err != nil {
		return false, err
	}
	err := w.get(ctx, &row, selectState, id)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil || !states.Flow(row.State).Ended() || row.Owner != "" {
		return false, err
	}
	for _, query := range deleteAll {
		if err := w.post(ctx, nil, query, row.N); err != nil {
			return false, err
		}
	}
	return true, w.forget(ctx, cmp.Or(row.Root, id))
}
