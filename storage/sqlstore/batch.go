package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/turns"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// A batch is writes that share a transaction. One that fails takes no other with it.

const (
	busyTries   = 3 // at a locked database, each as long as busyTimeout
	busyTimeout = 5 * time.Second

	// How often a transaction is tried that the database undid on account of
	// another one, and up to how long it waits before the first time, doubled for
	// each that follows.
	conflictTries = 5
	conflictWait  = 2 * time.Millisecond
)

// write sets the results of a batch. If the leader gave up waiting for the turn, write
// returns the last writes of the batch, which were not begun.
func (w *writer) write(ctx context.Context, s *session, batch []*write) (left []*write) {
	if batch[0].bare {
		batch[0].err = dberr.Failed(w.place, "read", batch[0].do(ctx, s))
		return nil
	}
	batch, spoilt, err := w.transact(ctx, s, batch)
	if errors.Is(err, turns.ErrNoTurn) {
		batch[0].err = err
		return batch[1:]
	}
	if spoilt && err == nil && len(batch) > 1 {
		// One of them wrote something and then failed. It is looked for by halves, so
		// that the others go on.
		half := len(batch) / 2
		if left := w.write(ctx, s, batch[:half]); len(left) > 0 {
			return batch[half-len(left):]
		}
		return w.write(ctx, s, batch[half:])
	}
	arrivals := wakeup.Nobody
	for _, one := range batch {
		if err != nil {
			one.err = err
		}
		if one.err == nil && one.then != nil {
			one.then()
		}
		if one.err == nil {
			arrivals = max(arrivals, one.arrivals)
		}
	}
	if arrivals != wakeup.Nobody { // once for all: a goroutine that is woken looks for all that was committed
		w.waiting(arrivals)
	}
	return nil
}

// transact runs a batch in one transaction, and again when the database could not
// decide between it and another one, or the connection was lost before the COMMIT:
// then nothing was done. It returns whose transaction it was. The error is that of
// all in it; spoilt says that one of them failed after it had written something, and
// that nothing was committed.
func (w *writer) transact(ctx context.Context, s *session, all []*write) (batch []*write, spoilt bool, err error) {
	for try := 1; ; try++ {
		batch, spoilt, err = w.attempt(ctx, s, all)
		why := err
		if spoilt && err == nil && len(batch) == 1 {
			why = batch[0].err
		}
		again := dberr.Conflicts(why) || dberr.Cut(why) && w.connect != nil && s.lost()
		if !again || errors.Is(why, storage.ErrUnsure) || try == conflictTries {
			return batch, spoilt, err
		}
		if err := wait(ctx, rand.N(conflictWait<<try)); err != nil { //nolint:gosec // only a pause
			return batch, false, err
		}
	}
}

func (w *writer) attempt(ctx context.Context, s *session, all []*write) (batch []*write, spoilt bool, err error) {
	if err := w.mend(ctx, s); err != nil {
		return all, false, err
	}
	if err := w.turns.Enter(all[0].done); err != nil {
		return all, false, fmt.Errorf("sqlstore: %s: wait for the turn to write: %w", w.place, err)
	}
	defer func() {
		wanted, left := w.turns.Leave()
		if left != nil && err == nil {
			err = fmt.Errorf("sqlstore: %s: end the turn to write: %w", w.place, left)
		}
		w.pace.left(wanted)
	}()
	if err := w.begin(ctx, s); err != nil {
		err = dberr.Failed(w.place, "begin", err)
		if t, is := w.turns.(*turns.Queue); is && dberr.Busy(err) {
			err = fmt.Errorf("%w: %v", err, t)
		}
		return all, false, err
	}
	ended := false
	defer func() {
		if !ended { // a step of the caller's panics
			_ = w.rollback(ctx, s)
		}
	}()
	batch, err = w.lock(ctx, s, all)
	if err != nil {
		spoilt, err = true, w.spoil(ctx, s, all, err)
	} else {
		spoilt, err = w.finish(ctx, s, batch)
	}
	ended = true
	return batch, spoilt, err
}

// lock locks the rows of the runs that a batch writes, in the same order in every batch. It
// returns the writes whose rows it could lock. If another transaction is writing a run, the
// write fails with errHeld. A write that takes a run over fails with ErrFenced instead, also
// when another process has already taken that run. These failures do not delay other writes.
func (w *writer) lock(ctx context.Context, s *session, all []*write) (batch []*write, err error) {
	if !w.dialect.locks || len(all) == 1 && len(all[0].runs) <= 1 {
		return all, nil
	}
	var runs []string
	known := map[int64]string{}
	for _, one := range all {
		if one.number != 0 && len(one.runs) == 1 {
			known[one.number] = one.runs[0]
		} else {
			runs = append(runs, one.runs...)
		}
	}
	fences, err := s.lockNumbers(ctx, known)
	if err != nil {
		return all, err
	}
	if err := s.lockRuns(ctx, runs, len(all) > 1); err != nil || len(all) == 1 {
		return all, err
	}
	held := make(map[string]bool, len(s.held))
	for _, run := range s.held {
		held[run] = true
	}
	for _, one := range all {
		locked := !slices.ContainsFunc(one.runs, func(run string) bool { return !held[run] })
		switch {
		case one.takes && (!locked || fences[one.number] != one.fence):
			one.err = fmt.Errorf("%w: run %q", storage.ErrFenced, one.runs[0])
		case !locked:
			one.err = errHeld
		default:
			batch = append(batch, one)
		}
	}
	return batch, nil
}

// finish does the writes of a batch and ends the transaction.
func (w *writer) finish(ctx context.Context, s *session, batch []*write) (spoilt bool, err error) {
	start, written, begun := s.changed, s.written, time.Now()
	makes := 0
	for _, one := range batch {
		makes += one.makes
	}
	s.many = len(batch) > 1
	if err := s.reserve(ctx, makes); err != nil {
		return true, w.spoil(ctx, s, batch, err)
	}
	if spoilt, err := w.do(ctx, s, batch); spoilt {
		return true, err
	}
	if err := s.countBorn(ctx); err != nil {
		return true, w.spoil(ctx, s, batch, err)
	}
	checkpoint := slices.ContainsFunc(batch, func(one *write) bool { return one.checkpoint })
	if s.changed == start {
		return false, w.rollback(ctx, s) // nothing to be made durable
	}
	seals := w.seals(s, batch)
	if !seals {
		if err := s.flush(ctx); err != nil {
			return true, w.spoil(ctx, s, batch, err)
		}
	}
	w.pace.took(time.Since(begun), len(batch))
	if checkpoint {
		failpoint.Hit("sqlstore.commit.before")
	}
	if seals {
		spoilt, err = w.seal(ctx, s, batch)
	} else {
		err = w.commit(ctx, s)
	}
	if spoilt || err != nil {
		return spoilt, err
	}
	if checkpoint {
		failpoint.Hit("sqlstore.commit.after")
	}
	w.counts.commit(s.changed-start, s.written-written)
	w.wal()
	return false, nil
}

// do does the writes of a batch, and reports whether one of them failed in such a way that
// the transaction was undone.
func (w *writer) do(ctx context.Context, s *session, batch []*write) (spoilt bool, err error) {
	for _, one := range batch {
		before := s.changed
		one.err = one.do(ctx, s)
		if s.wrong != nil { // with this one, or one before it
			return true, w.spoil(ctx, s, batch, s.wrong)
		}
		if errors.Is(one.err, errUnpassed) && s.changed == before {
			one.err = one.judge(ctx, s)
		}
		if one.err != nil && (s.changed != before || dberr.OfDatabase(one.err)) {
			return true, w.spoil(ctx, s, batch, one.err)
		}
		one.err = dberr.Failed(w.place, "write", one.err)
	}
	return false, nil
}

// seals reports whether a batch ends with one round trip. If the connection is lost
// during that round trip, the store cannot know whether the batch was committed. So the
// database must have answered before in this transaction, or every write must be repeatable.
func (w *writer) seals(s *session, batch []*write) bool {
	if !w.dialect.posts || w.committed != nil || !s.sealable() {
		return false
	}
	return s.heard || !slices.ContainsFunc(batch, func(one *write) bool { return !one.again })
}

// seal sends what is left of a batch and makes it durable.
func (w *writer) seal(ctx context.Context, s *session, batch []*write) (spoilt bool, err error) {
	err = s.exchange(ctx, &queued{query: "COMMIT"}, true)
	switch {
	case err == nil:
		return false, nil
	case s.lost(), dberr.State(err) != "" && dberr.Undecided(err):
		return false, fmt.Errorf("%w: %w", storage.ErrUnsure, dberr.Failed(w.place, "commit", err))
	default:
		return true, w.spoil(ctx, s, batch, err)
	}
}

// spoil undoes a batch in which something failed. When only one is in it, the
// error is its own; it is judged once all is undone when its guard did not let it
// pass. If the connection is lost, every write of the batch gets the error.
func (w *writer) spoil(ctx context.Context, s *session, batch []*write, why error) error {
	if s.lost() {
		return dberr.Failed(w.place, "write", why)
	}
	err := w.rollback(ctx, s)
	if len(batch) > 1 || err != nil {
		return err
	}
	one := batch[0]
	one.err = why
	if errors.Is(why, errUnpassed) {
		one.err = one.judge(ctx, s)
	}
	one.err = dberr.Failed(w.place, "write", one.err)
	return nil
}

// begin starts a transaction.
func (w *writer) begin(ctx context.Context, s *session) error {
	s.held, s.limits, s.wrong, s.heard = s.held[:0], nil, nil, false
	s.freed, s.moment, s.born = false, time.Time{}, nil
	if w.dialect.posts {
		s.posted = append(s.posted[:0], queued{query: w.dialect.write})
		return nil
	}
	var err error
	for range busyTries {
		if err = s.run(ctx, w.dialect.write); !dberr.Busy(err) {
			return err
		}
	}
	return err
}

// rollback undoes the transaction, unless SQLite has done so by itself.
func (w *writer) rollback(ctx context.Context, s *session) error {
	s.posted, s.wrong = s.posted[:0], nil
	if s.lost() {
		return nil
	}
	err := s.run(ctx, "ROLLBACK")
	if err != nil && dberr.Code(err) == 1 { // SQLITE_ERROR: no transaction is active
		return nil
	}
	return dberr.Failed(w.place, "rollback", err)
}

// commit makes the transaction durable. An error that wraps storage.ErrUnsure
// leaves open whether it is; after any other it is not.
func (w *writer) commit(ctx context.Context, s *session) error {
	if err := w.files.check(); err != nil {
		w.breakDown(err)
		return errors.Join(err, w.rollback(ctx, s))
	}
	var err error
	for range busyTries {
		if err = s.run(ctx, "COMMIT"); !dberr.Busy(err) {
			break
		}
	}
	if w.committed != nil {
		err = w.committed(err)
	}
	switch {
	case err == nil:
		return nil
	case !dberr.Undecided(err):
		return errors.Join(dberr.Failed(w.place, "commit", err), w.rollback(ctx, s))
	case dberr.Code(err) != 0:
		err = fmt.Errorf("%w: %w", ErrBroken, dberr.Failed(w.place, "commit", err))
		w.breakDown(err)
		return fmt.Errorf("%w: %w", storage.ErrUnsure, err)
	default:
		return fmt.Errorf("%w: %w", storage.ErrUnsure, dberr.Failed(w.place, "commit", err))
	}
}
