package sqlstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
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
		failure: string(storage.EncodeFailure(h.Failure)),
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

const (
	// guardRun is the first statement of each checkpoint: guard, lock and
	// counters in one. No row changed: the claim is void, or it was done before.
	guardRun = `UPDATE runs SET
  seq = seq + 1, entries = ?, events = ?, refs = ?, undos = undos + ?, updated = ?, memory = coalesce(?, memory)
WHERE n = ? AND fence = ? AND claim = ? AND owner <> '' AND seq = ?
  AND entries = ? AND events = ? AND refs = ? AND undos >= ? AND (? < 0 OR undos = ?)`
	// stepRun is the same within a Step, which holds the run by its transaction.
	stepRun = `UPDATE runs SET
  seq = seq + 1, entries = ?, events = ?, refs = ?, undos = undos + ?, updated = ?, memory = coalesce(?, memory), due = ?
WHERE n = ?`
	endRun = `UPDATE runs SET
  state = ?, outcome = ?, undone = ?, hold = ?, started = ?, ended = ?, output_ref = ?, output = ?, failure = ?
WHERE n = ?`
	leaveRun = `UPDATE runs SET owner = '', due = CASE WHEN bell = ? THEN ? ELSE ? END WHERE n = ?`
)

// Commit writes a checkpoint under a claim.
func (s *Store) Commit(ctx context.Context, claim storage.Claim, cp *storage.Checkpoint) error {
	if err := cp.Check(); err != nil {
		return err
	}
	c := commit{claim: claim, cp: cp, known: s.claims.get(claim.ID), rest: endingOf(&cp.Head)}
	err := s.update(ctx, &write{
		checkpoint: true,
		do:         c.write,
		then: func() {
			switch {
			case cp.Head.Release:
				s.claims.drop(claim.ID)
			case c.ended:
				s.claims.put(claim.ID, c.n, c.rest)
			}
			if rings(cp) {
				s.bell.rang()
			}
		},
	})
	if err != nil {
		s.claims.drop(claim.ID) // it is not known what the row says
	}
	return err
}

// rings reports whether somebody may wait for what the checkpoint makes.
func rings(cp *storage.Checkpoint) bool {
	return cp.Head.Release || len(cp.Children) > 0 || len(cp.Letters) > 0 || cp.Job != nil
}

// A commit is a checkpoint on its way into the database.
type commit struct {
	claim storage.Claim
	cp    *storage.Checkpoint
	known *claimed // nil when nothing is known
	rest  ending

	n     int64 // the run's number
	ended bool  // the ending was written
}

func (c *commit) write(ctx context.Context, w *session) (err error) {
	h, cp := &c.cp.Head, c.cp
	if c.known != nil {
		c.n = c.known.n
	} else if c.n, err = numberOf(ctx, w, c.claim.Run); err != nil {
		return err
	}
	undos := int64(-1) // any
	if len(cp.Push) > 0 {
		undos = cp.Push[0].N - 1 + int64(cp.Pop)
	}
	passed, err := w.exec(ctx, guardRun,
		h.Entries, h.Events, h.Refs, len(cp.Push)-cp.Pop, h.Time.UnixMicro(), []byte(h.Memory),
		c.n, c.claim.Fence, c.claim.ID, h.Seq,
		h.Entries-int64(len(cp.History)), h.Events-events(cp), h.Refs-int64(len(cp.Payloads)), cp.Pop, undos, undos)
	if err != nil {
		return err
	}
	if passed == 0 {
		return judge(ctx, w, c.claim, cp)
	}
	c.ended = c.known == nil || !c.rest.same(c.known.rest)
	if c.ended {
		if err := writeEnding(ctx, w, c.n, c.rest); err != nil {
			return err
		}
	}
	if h.Release {
		if _, err := w.exec(ctx, leaveRun, h.Bell, micros(h.Due), micros(time.Now()), c.n); err != nil {
			return err
		}
	}
	return writeContents(ctx, w, c.n, c.claim.Run, cp)
}

// events returns how many lines of the language's history are in cp.
func events(cp *storage.Checkpoint) (n int64) {
	for i := range cp.History {
		if cp.History[i].Kind == storage.EntryEvent {
			n++
		}
	}
	return n
}

// judge says why the guard did not let a checkpoint pass; nil when it was
// committed before.
func judge(ctx context.Context, w *session, claim storage.Claim, cp *storage.Checkpoint) error {
	row, err := findRun(ctx, w, claim.Run)
	if err != nil {
		return err
	}
	_, err = cp.Guard(&storage.Run{
		Fence: row.Fence, ClaimID: row.Claim, Owner: row.Owner,
		Seq: row.Seq, Entries: row.Entries, Events: row.Events, Refs: row.Refs, Undos: row.Undos,
	}, claim)
	return err
}

func writeEnding(ctx context.Context, w *session, n int64, e ending) error {
	var output, failure []byte
	if e.output != "" {
		output = []byte(e.output)
	}
	if e.failure != "" {
		failure = []byte(e.failure)
	}
	_, err := w.exec(ctx, endRun, e.state, e.outcome, e.undone, e.hold,
		micros(e.started), micros(e.ended), e.outputRef, output, failure, n)
	return err
}

// writeStep writes the checkpoint of a Step, which was judged.
func writeStep(ctx context.Context, w *session, row *runRow, cp *storage.Checkpoint) error {
	h := &cp.Head
	if _, err := w.exec(ctx, stepRun,
		h.Entries, h.Events, h.Refs, len(cp.Push)-cp.Pop, h.Time.UnixMicro(), []byte(h.Memory), micros(h.Due), row.N); err != nil {
		return err
	}
	if rest := endingOf(h); !rest.same(row.ending()) {
		if err := writeEnding(ctx, w, row.N, rest); err != nil {
			return err
		}
	}
	return writeContents(ctx, w, row.N, row.ID, cp)
}

// writeContents writes all of a checkpoint but its head.
func writeContents(ctx context.Context, w *session, n int64, run string, cp *storage.Checkpoint) error {
	for _, write := range [...]func() error{
		func() error { return writePayloads(ctx, w, n, cp.Payloads) },
		func() error { return writeAtoms(ctx, w, n, cp.Atoms, cp.Forget) },
		func() error { return writeHistory(ctx, w, n, cp.History) },
		func() error { return writeUndo(ctx, w, n, cp) },
		func() error { return writeTimers(ctx, w, n, cp.Timers) },
		func() error { return writeTokens(ctx, w, n, cp.Tokens) },
		func() error { return takeLetters(ctx, w, n, cp.Taken) },
		func() error { return writeOutbox(ctx, w, run, cp.Outbox) },
		func() error { return writeChildren(ctx, w, cp) },
		func() error { return deliverAll(ctx, w, cp.Letters, true) },
		func() error { return endJob(ctx, w, cp.Job) },
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func writeChildren(ctx context.Context, w *session, cp *storage.Checkpoint) error {
	for _, child := range cp.Children {
		if child.Due.IsZero() {
			child.Due = cp.Head.Time
		}
		if err := createRun(ctx, w, &child); err != nil {
			return err
		}
	}
	return nil
}
