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

// A batch is a set of writes that share a transaction. If one of them fails, the others are still committed.

const (
	busyTries = 3 // attempts at a locked database, each as long as dbfile.BusyTimeout

	// conflictTries bounds how often the writer runs a transaction that the database rolled back because of another
	// transaction. conflictWait bounds the pause before the second attempt; it doubles for each further attempt.
	conflictTries = 5
	conflictWait  = 2 * time.Millisecond
)

// attempted is the result of an attempt to run a batch in one transaction.
type attempted struct {
	batch  []*write // the writes that were part of the transaction
	spoilt bool     // a write failed after it had changed rows, so nothing was committed
	err    error    // the error of every write of the batch
}

// attempt runs a batch in one transaction.
func (w *writer) attempt(ctx context.Context, s *session, all []*write) (t attempted) {
	t.batch = all
	if t.err = w.enter(ctx, s, all[0].done); t.err != nil {
		return t
	}
	open := false // whether a transaction is open
	defer func() {
		if open { // true here only if a write panicked
			_ = w.rollback(ctx, s)
		}
		t.err = w.leave(t.err)
	}()
	if t.err = w.begin(ctx, s); t.err != nil {
		return t
	}
	open = true
	var why error // why the batch is spoilt; nil if it is not
	t.batch, why = w.lock(ctx, s, all)
	begun := time.Now()
	s.Many, s.yields = len(t.batch) > 1, w.apart != w
	if why == nil {
		why = s.readChecked(ctx, t.batch)
	}
	if why == nil {
		why = s.reserve(ctx, makes(t.batch))
	}
	for i := 0; i < len(t.batch) && why == nil; i++ {
		one, before := t.batch[i], s.Changed
		one.err = one.do(ctx, s)
		why = w.spoils(ctx, s, one, before)
	}
	if why == nil {
		why = s.countBorn(ctx)
	}
	switch {
	case why != nil:
		t.spoilt, t.err = true, w.spoil(ctx, s, t.batch, why)
	case s.Changed == 0: // no row changed: there is nothing to commit
		t.err = w.rollback(ctx, s)
	default:
		t.spoilt, t.err = w.commit(ctx, s, t.batch, begun)
	}
	open = false
	return t
}

// makes returns how many runs a batch creates, as far as the writes know.
func makes(batch []*write) (n int) {
	for _, one := range batch {
		n += one.makes
	}
	return n
}

// enter connects a session that lost its connection, and waits for this process's turn to write. If done is closed
// first, the error wraps [turns.ErrNoTurn].
func (w *writer) enter(ctx context.Context, s *session, done <-chan struct{}) error {
	if err := w.mend(ctx, s); err != nil {
		return err
	}
	if err := w.turns.Enter(done); err != nil {
		return fmt.Errorf("sqlstore: %s: wait for the turn to write: %w", w.place, err)
	}
	return nil
}

// leave ends the turn. It returns the error of the attempt, or else the error of leaving.
func (w *writer) leave(err error) error {
	wanted, left := w.turns.Leave()
	if left != nil && err == nil {
		err = fmt.Errorf("sqlstore: %s: end the turn to write: %w", w.place, left)
	}
	w.pace.left(wanted)
	return err
}

// settle sets the results of the writes of a batch after an attempt. If the attempt failed and may succeed next
// time, settle repeats it. If one write spoiled the transaction, settle runs the other writes without it. If the
// leader gave up waiting for the turn, settle returns the writes of the batch that were not started.
func (w *writer) settle(ctx context.Context, s *session, all []*write, t attempted) (left []*write) {
	for try := 1; try < conflictTries && w.mayRepeat(s, t); try++ {
		if err := wait(ctx, rand.N(conflictWait<<try)); err != nil { //nolint:gosec // only a pause
			t.spoilt, t.err = false, err
			break
		}
		t = w.attempt(ctx, s, all)
	}
	if errors.Is(t.err, turns.ErrNoTurn) {
		t.batch[0].err = t.err
		return t.batch[1:]
	}
	if t.spoilt && t.err == nil && len(t.batch) > 1 { // find the write that fails, by halving the batch
		half := len(t.batch) / 2
		first, second := t.batch[:half], t.batch[half:]
		if left := w.settle(ctx, s, first, w.attempt(ctx, s, first)); len(left) > 0 {
			return t.batch[half-len(left):]
		}
		return w.settle(ctx, s, second, w.attempt(ctx, s, second))
	}
	arrivals := wakeup.Nothing
	for _, one := range t.batch {
		if t.err != nil {
			one.err = t.err
		}
		if one.err == nil && one.then != nil {
			one.then()
		}
		if one.err == nil {
			arrivals = max(arrivals, one.arrivals)
		}
	}
	if arrivals != wakeup.Nothing { // once for the batch: a goroutine that wakes up reads everything that was committed
		w.waiting(arrivals)
	}
	return nil
}

// mayRepeat reports whether a failed attempt may succeed when it is repeated: the database rolled the transaction
// back because of another one, or the connection was lost before the COMMIT.
func (w *writer) mayRepeat(s *session, t attempted) bool {
	why := t.err
	if t.spoilt && why == nil && len(t.batch) == 1 {
		why = t.batch[0].err
	}
	return (dberr.Conflicts(why) || dberr.Cut(why) && w.connect != nil && s.Lost()) && !errors.Is(why, storage.ErrUnsure)
}

// lock locks the rows of the runs that a batch writes, in the same order in every batch, so that batches cannot
// deadlock. It returns the writes whose rows it could lock. If another transaction is writing a run, the write
// fails with errHeld. A write that takes a run over fails with ErrFenced instead, and also if another process has
// already taken that run. These failures do not delay other writes.
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

// spoils returns why a completed write spoils its transaction; nil if it does not. Before is the number of rows
// that the transaction had changed before the write. If the write's guard matched no row, spoils calls the write's
// judge.
func (w *writer) spoils(ctx context.Context, s *session, one *write, before int64) error {
	if s.Wrong != nil { // in this write, or in an earlier one
		return s.Wrong
	}
	if errors.Is(one.err, errUnpassed) && s.Changed == before {
		one.err = one.judge(ctx, s)
	}
	if one.err != nil && (s.Changed != before || dberr.OfDatabase(one.err)) {
		return one.err
	}
	one.err = dberr.Failed(w.place, "write", one.err)
	return nil
}

// seals reports whether a batch can end with one round trip. If the connection is lost during that round trip, the
// store cannot know whether the batch was committed. Therefore, either the database has answered before in this
// transaction, or every write can be repeated.
func (w *writer) seals(s *session, batch []*write) bool {
	if !w.dialect.Posts || w.committed != nil || !s.Sealable() {
		return false
	}
	return s.Heard() || !slices.ContainsFunc(batch, func(one *write) bool { return !one.again })
}

// seal sends the remaining statements of a batch and commits.
func (w *writer) seal(ctx context.Context, s *session, batch []*write) (spoilt bool, err error) {
	err = s.Seal(ctx)
	switch {
	case err == nil:
		return false, nil
	case s.Lost(), dberr.State(err) != "" && dberr.Undecided(err):
		return false, fmt.Errorf("%w: %w", storage.ErrUnsure, dberr.Failed(w.place, "commit", err))
	default:
		return true, w.spoil(ctx, s, batch, err)
	}
}

// spoil rolls back a batch that contains a failed write. If the batch is a single write, the error is returned for
// that write; if its guard matched no row, spoil calls its judge after the rollback. If the connection is lost,
// every write of the batch receives the error.
func (w *writer) spoil(ctx context.Context, s *session, batch []*write, why error) error {
	if s.Lost() {
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
	s.held, s.limits = s.held[:0], nil
	s.freed, s.moment, s.born, s.Changed, s.Written = false, time.Time{}, nil, 0, 0
	if w.dialect.Posts {
		s.PostBegin(w.dialect.write)
		return nil
	}
	var err error
	for range busyTries {
		if err = s.Run(ctx, w.dialect.write); !dberr.Busy(err) {
			break
		}
	}
	err = dberr.Failed(w.place, "begin", err)
	if t, is := w.turns.(*turns.Queue); is && dberr.Busy(err) {
		err = fmt.Errorf("%w: %v", err, t)
	}
	return err
}

// rollback rolls the transaction back, unless SQLite has already done that.
func (w *writer) rollback(ctx context.Context, s *session) error {
	err := s.Rollback(ctx)
	if err != nil && dberr.Code(err) == 1 { // SQLITE_ERROR: no transaction is active
		return nil
	}
	return dberr.Failed(w.place, "rollback", err)
}

// commit commits the transaction of a batch; begun is when its first write began. If the error wraps
// [storage.ErrUnsure], the transaction may be durable. After any other error it is not.
func (w *writer) commit(ctx context.Context, s *session, batch []*write, begun time.Time) (spoilt bool, err error) {
	seals := w.seals(s, batch)
	if !seals {
		if err := s.Flush(ctx); err != nil {
			return true, w.spoil(ctx, s, batch, err)
		}
	}
	w.pace.took(time.Since(begun), len(batch))
	checkpoint := slices.ContainsFunc(batch, func(one *write) bool { return one.checkpoint })
	if checkpoint {
		failpoint.Hit("sqlstore.commit.before")
	}
	if seals {
		spoilt, err = w.seal(ctx, s, batch)
	} else if err = w.files.Check(); err != nil {
		w.breakDown(err)
		err = errors.Join(err, w.rollback(ctx, s))
	} else {
		w.space.extend() // safe here: the transaction holds SQLite's lock for writing
		for range busyTries {
			if err = s.Run(ctx, "COMMIT"); !dberr.Busy(err) {
				break
			}
		}
		if w.committed != nil {
			err = w.committed(err)
		}
		if err != nil {
			err = w.uncommitted(ctx, s, err)
		}
	}
	if spoilt || err != nil {
		return spoilt, err
	}
	if checkpoint {
		failpoint.Hit("sqlstore.commit.after")
	}
	w.counts.commit(len(batch), s.Changed, s.Written)
	w.wal()
	return false, nil
}

// uncommitted returns the error of a COMMIT that failed with err.
func (w *writer) uncommitted(ctx context.Context, s *session, err error) error {
	switch {
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
