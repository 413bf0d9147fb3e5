package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage"
)

const (
	busyTries = 3    // at a locked database, each as long as busyTimeout
	maxBatch  = 1000 // writes in one transaction
	yields    = 3    // before a batch is closed, so that those just woken join it

	busyTimeout = 5 * time.Second
)

// A write is what one call wants written.
type write struct {
	do         func(context.Context, *session) error // runs in a transaction, perhaps more than once
	then       func()                                // runs once it is committed; may be nil
	alone      bool                                  // shares its transaction with no other
	bare       bool                                  // runs outside of any transaction
	checkpoint bool                                  // has failpoints around its commit

	err   error
	ready chan struct{} // closed when it is done, or shall lead; nil for a leader
	leads bool
}

// A writer is the only one in its process that writes to the database. Whoever
// finds it idle leads: it takes its own write and those that queue meanwhile
// into one transaction, hands out the results, and passes the lead to the next
// in the queue. So a lone write never waits, and many share a COMMIT.
type writer struct {
	file    string
	session *session
	turns   *turnstile
	wal     func() // told after each commit; for WAL checkpoints

	// committed stands in for the answer of a COMMIT in tests; nil otherwise.
	committed func(error) error

	mu     sync.Mutex
	queue  []*write
	leader bool
	idle   sync.Cond // signalled when nobody leads
	closed bool
	broken bool
}

func newWriter(file string, s *session, turns *turnstile) *writer {
	w := &writer{file: file, session: s, turns: turns}
	w.idle.L = &w.mu
	return w
}

// run does a write and returns when it is durable. When ctx ends before it has
// begun, nothing is written.
func (w *writer) run(ctx context.Context, one *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	switch {
	case w.closed:
		w.mu.Unlock()
		return storage.ErrClosed
	case w.broken && !one.bare:
		w.mu.Unlock()
		return fmt.Errorf("%w (%s)", ErrBroken, w.file)
	case w.leader:
		one.ready = make(chan struct{})
		w.queue = append(w.queue, one)
		w.mu.Unlock()
		select {
		case <-one.ready:
		case <-ctx.Done():
			if w.withdraw(one) {
				return ctx.Err()
			}
			<-one.ready
		}
		if !one.leads {
			return one.err
		}
	default:
		w.leader = true
		w.mu.Unlock()
	}
	w.lead(context.WithoutCancel(ctx), one) // also saves the driver from watching for the end of each statement
	return one.err
}

// withdraw takes a write out of the queue, if it is still there.
func (w *writer) withdraw(one *write) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.queue, one)
	if i < 0 {
		return false
	}
	w.queue = slices.Delete(w.queue, i, i+1)
	return true
}

// lead does the first write and those that may share its transaction, and
// passes the lead on.
func (w *writer) lead(ctx context.Context, first *write) {
	batch := []*write{first}
	if !first.alone && !first.bare {
		for range yields {
			runtime.Gosched()
		}
		batch = w.join(batch)
	}
	defer w.pass(batch[1:]) // also when a step of the caller's panics
	w.write(ctx, batch)
}

// pass hands out the results of a batch, and the lead.
func (w *writer) pass(followers []*write) {
	for _, one := range followers {
		close(one.ready)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.leader = false
		w.idle.Broadcast()
		return
	}
	next := w.queue[0]
	w.queue = w.queue[1:]
	next.leads = true
	close(next.ready)
}

// join moves what may share a transaction from the head of the queue to the
// batch.
func (w *writer) join(batch []*write) []*write {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for n < len(w.queue) && n+len(batch) < maxBatch && !w.queue[n].alone && !w.queue[n].bare {
		n++
	}
	batch = append(batch, w.queue[:n]...)
	w.queue = w.queue[n:]
	return batch
}

// write sets the results of a batch.
func (w *writer) write(ctx context.Context, batch []*write) {
	if batch[0].bare {
		batch[0].err = failed(w.file, "read", batch[0].do(ctx, w.session))
		return
	}
	spoilt, err := w.transact(ctx, batch)
	if spoilt && len(batch) > 1 {
		// One of them wrote something and then failed. Each by itself.
		for _, one := range batch {
			w.write(ctx, []*write{one})
		}
		return
	}
	for _, one := range batch {
		if err != nil {
			one.err = err
		}
		if one.err == nil && one.then != nil {
			one.then()
		}
	}
}

// transact runs a batch in one transaction. The error is that of all in it;
// spoilt says that one of them failed after it had written something, and that
// nothing was committed.
func (w *writer) transact(ctx context.Context, batch []*write) (spoilt bool, err error) {
	if err := w.turns.enter(); err != nil {
		return false, fmt.Errorf("sqlstore: %s: wait for the turn to write: %w", w.file, err)
	}
	defer func() {
		if left := w.turns.leave(); left != nil && err == nil {
			err = fmt.Errorf("sqlstore: %s: end the turn to write: %w", w.file, left)
		}
	}()
	if err := w.begin(ctx); err != nil {
		return false, failed(w.file, "begin", err)
	}
	ended := false
	defer func() {
		if !ended { // a step of the caller's panics
			_ = w.rollback(ctx)
		}
	}()
	spoilt, err = w.finish(ctx, batch)
	ended = true
	return spoilt, err
}

// finish does the writes of a batch and ends the transaction.
func (w *writer) finish(ctx context.Context, batch []*write) (spoilt bool, err error) {
	start := w.session.changed
	checkpoint := false
	for _, one := range batch {
		before := w.session.changed
		one.err = failed(w.file, "write", one.do(ctx, w.session))
		if one.err != nil && (w.session.changed != before || codeOf(one.err) != 0) {
			return true, w.rollback(ctx)
		}
		checkpoint = checkpoint || one.checkpoint
	}
	if w.session.changed == start {
		return false, w.rollback(ctx) // nothing to be made durable
	}
	if checkpoint {
		failpoint.Hit("sqlstore.commit.before")
	}
	if err := w.commit(ctx); err != nil {
		return false, err
	}
	if checkpoint {
		failpoint.Hit("sqlstore.commit.after")
	}
	w.wal()
	return false, nil
}

// begin starts a transaction that will not have to wait for the write lock
// later on.
func (w *writer) begin(ctx context.Context) error {
	var err error
	for range busyTries {
		if err = w.session.run(ctx, "BEGIN IMMEDIATE"); !busy(err) {
			return err
		}
	}
	return err
}

// rollback undoes the transaction, unless SQLite has done so by itself.
func (w *writer) rollback(ctx context.Context) error {
	err := w.session.run(ctx, "ROLLBACK")
	if err != nil && codeOf(err) == 1 { // SQLITE_ERROR: no transaction is active
		return nil
	}
	return failed(w.file, "rollback", err)
}

// commit makes the transaction durable. An error that wraps storage.ErrUnsure
// leaves open whether it is; after any other it is not.
func (w *writer) commit(ctx context.Context) error {
	var err error
	for range busyTries {
		if err = w.session.run(ctx, "COMMIT"); !busy(err) {
			break
		}
	}
	if w.committed != nil {
		err = w.committed(err)
	}
	switch {
	case err == nil:
		return nil
	case !undecided(err):
		return errors.Join(failed(w.file, "commit", err), w.rollback(ctx))
	case codeOf(err) != 0:
		// After a failed fsync the kernel may have dropped the pages: trying once
		// more on this handle could succeed and lose them.
		w.mu.Lock()
		w.broken = true
		w.mu.Unlock()
		return fmt.Errorf("%w: %w: %w", storage.ErrUnsure, ErrBroken, failed(w.file, "commit", err))
	default:
		return fmt.Errorf("%w: %w", storage.ErrUnsure, err)
	}
}

// close refuses what comes from now on, waits for those who write, and does a
// last write unless the writer is broken. Called again it does nothing.
func (w *writer) close(ctx context.Context, last *write) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	for w.leader {
		w.idle.Wait()
	}
	broken := w.broken
	w.mu.Unlock()
	if !broken {
		w.write(ctx, []*write{last})
	}
	return last.err
}
