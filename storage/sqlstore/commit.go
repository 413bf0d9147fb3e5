package sqlstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// ending is the part of a run's row that few commits change. It is written only
// when it differs from what is there.
type ending struct {
	state, outcome, undone uint8
	hold                   bool
	started, ended         time.Time
	outputRef              int64
	output, failure        string
}

func (r *runRow) ending() ending {
	return ending{
		state: r.State, outcome: r.Outcome, undone: r.Undone, hold: r.Hold,
		started: r.Started.time(), ended: r.Ended.time(),
		outputRef: r.OutputRef, output: string(r.Output), failure: string(r.Failure),
	}
}

func endingOf(h *storage.Head) ending {
	e := ending{
		state: uint8(h.State), outcome: uint8(h.Outcome), undone: uint8(h.Undo), hold: h.Hold,
		started: h.Started, ended: h.Ended, outputRef: h.Output.Ref,
		failure: string(codec.EncodeFailure(h.Failure)),
	}
	if h.Output.Ref == 0 {
		e.output = string(h.Output.Data)
	}
	return e
}

// same compares to the microsecond, which is how times are stored.
func (e ending) same(o ending) bool {
	started := micros(e.started) == micros(o.started)
	ended := micros(e.ended) == micros(o.ended)
	e.started, e.ended, o.started, o.ended = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return started && ended && e == o
}

// Commit writes a checkpoint under a claim.
func (s *Store) Commit(ctx context.Context, claim storage.Claim, cp *storage.Checkpoint) error {
	if err := cp.Check(); err != nil {
		return err
	}
	c := commit{owner: s.owner.ID, claim: claim, cp: cp, known: s.claims.get(claim.ID), rest: endingOf(&cp.Head)}
	number, makes, locks, takes := int64(0), 0, addressees(cp.Messages), false
	switch {
	case claim.Makes(cp):
		if err := rules.Continues(cp, claim.New); err != nil {
			return err
		}
		makes = 1
	default:
		if c.known != nil && len(locks) == 0 { // what is known was never offered before, or its answer has come
			number, takes = c.known.n, claim.BeginsWith(cp)
		}
		locks = append(locks, claim.Run)
	}
	var one write
	one = write{
		checkpoint: true, again: true,
		number: number,
		makes:  makes,
		takes:  takes,
		fence:  claim.Fence - 1,
		do:     c.write,
		judge: func(ctx context.Context, w *session) error {
			err := judge(ctx, w, claim, cp)
			if c.before = err == nil; c.before {
				c.limited = nil
			}
			return err
		},
		runs: locks,
		then: func() {
			if c.freesPlace { // there may be a place now
				one.arrivals = wakeup.Moves
			}
			switch {
			case cp.Head.Release, c.before, c.limited != nil:
				s.claims.drop(claim.ID)
			default:
				s.claims.put(claim.ID, &claimed{n: c.n, bucket: c.bucket, rest: c.rest, has: c.has, recent: c.turn.Row})
			}
		},
		arrivals: arrivalsFor(cp),
	}
	err := s.update(ctx, &one)
	if err != nil {
		s.claims.drop(claim.ID) // it is not known what the row says
	}
	if err == nil && c.limited != nil {
		return c.limited
	}
	return err
}

// arrivalsFor returns the kind of change that the checkpoint makes for waiting calls.
func arrivalsFor(cp *storage.Checkpoint) wakeup.Change {
	h := &cp.Head
	switch {
	case len(cp.Children) > 0, len(cp.Messages) > 0, len(cp.Outbox) > 0 && h.Release, h.Release && (!h.State.Ended() || !h.Due.IsZero()):
		return wakeup.Moves
	case cp.Job != nil && !cp.Job.State.Ended():
		return wakeup.Posts
	case h.Release, cp.Job != nil:
		return wakeup.Ends
	}
	return wakeup.Nobody
}

// A commit is a checkpoint on its way into the database.
type commit struct {
	owner string
	claim storage.Claim
	cp    *storage.Checkpoint
	known *claimed // nil when nothing is known
	rest  ending

	n      int64 // the run's number
	bucket int64 // 0 when no limit counts it
	has    parts // in which tables there may be atoms
	turn   inline.Flush

	before     bool                  // it was committed before
	freesPlace bool                  // the commit releases a run that limits count
	limited    *storage.LimitedError // why a run was made and no more
}

const selectNewest = `SELECT o.n, coalesce(r.bucket, 0) AS bucket, r.recent FROM origins o JOIN runs r ON r.n = o.n WHERE o.id = ?`

// look finds out what has to be known of the run.
func (c *commit) look(ctx context.Context, w *session) error {
	newest := c.known
	if newest == nil {
		var row struct {
			N, Bucket int64
			Recent    []byte
		}
		if err := w.hold(ctx, c.claim.Run); err != nil {
			return err
		}
		if err := w.get(ctx, &row, selectNewest, c.claim.Run); err != nil {
			return notFound(err, "run", c.claim.Run)
		}
		newest = &claimed{n: row.N, bucket: row.Bucket, has: hasAtoms | hasSettled, recent: row.Recent}
	}
	c.n, c.bucket, c.has = newest.n, newest.bucket, newest.has
	c.freesPlace = c.bucket != 0 && c.cp.Head.Release
	var err error
	c.turn, err = newest.recent.Turn(&w.scratch, c.cp)
	return err
}

func (c *commit) write(ctx context.Context, w *session) (err error) {
	c.before, c.limited = false, nil
	if c.claim.Makes(c.cp) {
		return c.make(ctx, w)
	}
	if err := c.look(ctx, w); err != nil {
		return err
	}
	head := c.writeHead
	if c.claim.BeginsWith(c.cp) {
		if err := c.admit(ctx, w); err != nil {
			return err
		}
		head = c.begin
	}
	if err := head(ctx, w); err != nil {
		return err
	}
	c.has, err = writeContents(ctx, w, c.n, c.claim.Run, c.cp, &c.turn, c.has)
	return err
}

// make makes the run with this checkpoint. When there is no place for it, it is made
// without.
func (c *commit) make(ctx context.Context, w *session) (err error) {
	if !c.cp.Head.Release {
		if c.limited, err = noPlace(ctx, w, c.claim.New); err != nil {
			return err
		}
	}
	if c.turn, err = inline.Records(nil).Turn(&w.scratch, c.cp); err != nil {
		return err
	}
	if c.n, err = createRun(ctx, w, c.claim.New, c); err != nil || c.limited != nil {
		return err
	}
	c.freesPlace = len(w.limits) > 0 && c.cp.Head.Release
	c.has, err = writeContents(ctx, w, c.n, c.claim.Run, c.cp, &c.turn, 0)
	return err
}

// judge says why the guard did not let a checkpoint pass; nil when it was
// committed before.
func judge(ctx context.Context, w *session, claim storage.Claim, cp *storage.Checkpoint) error {
	row, err := findRun(ctx, w, claim.Run)
	if err != nil {
		return err
	}
	_, err = rules.Guard(cp, &storage.Run{
		Fence: row.Fence, ClaimID: row.Claim, Owner: row.Owner, Wakeups: row.Wakeups,
		Seq: row.Seq, Entries: row.Entries, Events: row.Events, Refs: row.Refs, Undos: row.Undos,
	}, claim)
	return err
}

// writeContents writes all of a checkpoint but the run's row. It reports in which
// tables there may be atoms now.
func writeContents(ctx context.Context, w *session, n int64, run string, cp *storage.Checkpoint, t *inline.Flush, has parts) (parts, error) {
	for _, write := range [...]func() error{
		func() error { return writeOrigin(ctx, w, n, cp) },
		func() error { return writePayloads(ctx, w, n, cp.Payloads) },
		func() (err error) { has, err = writeFlush(ctx, w, t, n, has); return err },
		func() error { return forgetAtoms(ctx, w, n, cp.Forget, has) },
		func() error { return writeUndo(ctx, w, n, cp) },
		func() error { return writeTimers(ctx, w, n, cp.Timers) },
		func() error { return writeTokens(ctx, w, n, cp.Tokens) },
		func() error { return takeMessages(ctx, w, n, cp.Taken) },
		func() error { return writeOutbox(ctx, w, run, cp.Outbox) },
		func() error { return writeChildren(ctx, w, cp) },
		func() error { return deliverAll(ctx, w, cp.Messages, true) },
		func() error { return endJobOf(ctx, w, run, cp.Job) },
	} {
		if err := write(); err != nil {
			return has, err
		}
	}
	return has, nil
}

const (
	replaceInput     = `UPDATE origins SET input_ref = ?, input = ? WHERE n = ?`
	replaceStructure = `UPDATE origins SET structure = ? WHERE n = ?`
	replaceLabel     = `INSERT INTO labels (run, key, value) VALUES (?, ?, ?) ON CONFLICT (run, key) DO UPDATE SET value = excluded.value`
	deleteLabel      = `DELETE FROM labels WHERE run = ? AND key = ?`
)

// writeOrigin writes what few checkpoints change of what the run was begun with.
func writeOrigin(ctx context.Context, w *session, n int64, cp *storage.Checkpoint) error {
	if in := cp.Input; in != nil {
		var inline []byte
		if in.Ref == 0 {
			inline = in.Data
		}
		if err := w.post(ctx, nil, replaceInput, in.Ref, inline, n); err != nil {
			return err
		}
	}
	if cp.Head.Absolve {
		if err := w.post(ctx, nil, absolveRun, n); err != nil {
			return err
		}
	}
	if cp.Structure != "" {
		if err := w.post(ctx, nil, replaceStructure, cp.Structure, n); err != nil {
			return err
		}
	}
	for key, value := range cp.Labels {
		if err := writeLabel(ctx, w, n, key, value); err != nil {
			return err
		}
	}
	return nil
}

// writeLabel sets a label, or takes it away.
func writeLabel(ctx context.Context, w *session, n int64, key, value string) error {
	if value == "" {
		return w.post(ctx, nil, deleteLabel, n, key)
	}
	return w.post(ctx, nil, replaceLabel, n, key, value)
}

func writeChildren(ctx context.Context, w *session, cp *storage.Checkpoint) error {
	for _, child := range cp.Children {
		if child.Due.IsZero() {
			child.Due = cp.Head.Time
		}
		if _, err := createRun(ctx, w, &child, nil); err != nil {
			return err
		}
	}
	return nil
}
