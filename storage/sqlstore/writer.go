package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/turns"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	maxBatch = 1000 // writes in one transaction
	yields   = 3    // before a batch is closed, so that those just woken join it
	longer   = 30   // yields after the last write that joined, where the way to the database is long
	alike    = 16   // transactions after one that was shared, which are taken to be so too
)

// A write is what one call wants written.
type write struct {
	do         func(context.Context, *session) error // runs in a transaction, perhaps more than once
	judge      func(context.Context, *session) error // says what it means that do returned errUnpassed; nil when it never does
	then       func()                                // runs once it is committed; may be nil
	arrivals   wakeup.Change                         // the kind of change that it makes for waiting calls
	runs       []string                              // whose rows it locks
	number     int64                                 // of the only one of them, if it is known
	takes      bool                                  // takes that one over, which had no owner when its fence was fence
	fence      int64
	makes      int  // new runs, as far as is known
	alone      bool // shares its transaction with no other, and may take long
	bare       bool // runs outside of any transaction
	checkpoint bool // has failpoints around its commit
	again      bool // its caller repeats it if the reply, and so the outcome, was lost

	done  <-chan struct{} // closed when its caller gives up; nil for never
	err   error
	ready chan struct{} // closed when it is done, or shall lead; nil for a leader
	lane  *session      // to lead with; nil when it is done
}

// errUnpassed is what a write fails with that was not let pass by its guard, and
// has changed nothing on its own.
var errUnpassed = errors.New("sqlstore: the guard did not let it pass")

// errHeld is the error of a write that was left out of a transaction because another
// transaction is writing its runs.
var errHeld = errors.New("sqlstore: its runs are being written")

// A writer is the only one in its process that writes to the database. A goroutine that finds
// no leader leads: it puts its own write and those that queue meanwhile into one
// transaction, hands out the results, and passes the lead to the next in the queue. So
// a lone write never waits, and many share a COMMIT. On a server, a second goroutine leads
// beside the first when a whole transaction queues. Writes that go alone have a writer of
// their own there, because users may keep them open and other transactions may block them.
// No other write waits for them.
type writer struct {
	place   string
	dialect *dialect
	session *session   // the first lane
	free    []*session // lanes without a leader
	lanes   int
	full    int                                     // so many writes a transaction may hold; when they queue, a lane is led beside others
	apart   *writer                                 // does the writes that go alone; the writer itself where there is one lane for all
	connect func(context.Context) (*session, error) // makes a lane anew whose connection was lost; nil where none is lost
	turns   gate
	files   *site               // which are looked at before each commit; nil for none
	wal     func()              // told after each commit; for WAL checkpoints
	waiting func(wakeup.Change) // told after each commit that a goroutine or another process may wait for
	counts  *counts

	pace pace

	// committed stands in for the answer of a COMMIT in tests; nil otherwise.
	committed func(error) error

	mu      sync.Mutex
	queue   []*write
	company int       // for so many leaders more, other writes are expected to queue meanwhile
	idle    sync.Cond // signaled when no goroutine leads
	closed  bool
	broken  error // why nothing more is written; nil as long as all is well
}

// A gate is passed before writing, and closed behind it.
type gate interface {
	// Enter waits for the turn. When done is closed first, its error wraps turns.ErrNoTurn.
	Enter(done <-chan struct{}) error
	// Leave reports whether another process waits to enter.
	Leave() (wanted bool, err error)
}

func newWriter(place string, gate gate, lanes ...*session) *writer {
	w := &writer{
		place: place, dialect: lanes[0].dialect, session: lanes[0], free: slices.Clone(lanes), lanes: len(lanes),
		full: maxBatch, turns: gate, wal: func() {}, waiting: func(wakeup.Change) {}, counts: &counts{},
	}
	w.apart, w.idle.L = w, &w.mu
	return w
}

// run does a write and returns when it is durable. When ctx ends before it has
// begun, nothing is written. If another transaction is writing the runs of this write, other
// writes would have to wait with it, so this write goes alone.
func (w *writer) run(ctx context.Context, one *write) error {
	to := w
	if one.alone {
		to = w.apart
	}
	err := to.take(ctx, one)
	if waits(err) && to != w.apart {
		one.alone = true
		return w.run(ctx, one)
	}
	return err
}

func (w *writer) take(ctx context.Context, one *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	one.done = ctx.Done()
	w.mu.Lock()
	switch {
	case w.closed:
		w.mu.Unlock()
		return storage.ErrClosed
	case w.broken != nil && !one.bare:
		w.mu.Unlock()
		return w.broken
	case len(w.free) < w.lanes:
		one.lane, one.ready = nil, make(chan struct{})
		w.queue = append(w.queue, one)
		w.hand()
		w.mu.Unlock()
		select {
		case <-one.ready:
		case <-ctx.Done():
			if w.withdraw(one) {
				return w.late(ctx)
			}
			<-one.ready
		}
		if one.lane == nil {
			return one.err
		}
	default:
		last := len(w.free) - 1
		one.lane, w.free = w.free[last], w.free[:last]
		w.mu.Unlock()
	}
	w.lead(context.WithoutCancel(ctx), one) // also saves the driver from watching for the end of each statement
	if errors.Is(one.err, turns.ErrNoTurn) && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), one.err)
	}
	return one.err
}

// late returns the error of a write that was given up in the queue.
func (w *writer) late(ctx context.Context) error {
	if t, is := w.turns.(*turns.Queue); is && t.Waits() {
		return fmt.Errorf("%w: %w: %v", ctx.Err(), turns.ErrNoTurn, t)
	}
	return ctx.Err()
}

// part gives those that go alone lanes of their own.
func (w *writer) part(lanes ...*session) {
	w.apart = newWriter(w.place, w.turns, lanes...)
	w.apart.full = 1
	w.apart.connect, w.apart.waiting, w.apart.counts = w.connect, w.waiting, w.counts
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
	lane, batch := first.lane, []*write{first}
	defer func() { w.pass(lane, batch[1:]) }() // also when a step of the caller's panics
	if !first.alone && !first.bare {
		w.gather()
		batch = w.join(batch)
	}
	if left := w.write(ctx, lane, batch); len(left) > 0 {
		batch = batch[:len(batch)-len(left)]
		w.putBack(left)
	}
}

// putBack puts writes to the head of the queue again that were not begun.
func (w *writer) putBack(left []*write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(slices.Clip(left), w.queue...)
}

// gather lets goroutines that a commit has just woken join the batch, if there were such lately.
// Each yield wakes an idle processor to look for work, which for a lone run costs
// more than its rows do. On a server, where that is little beside the way there, it goes
// on as long as others come.
func (w *writer) gather() {
	w.mu.Lock()
	company, came := w.company > 0 && len(w.queue) < w.full-1, len(w.queue)
	w.mu.Unlock()
	if !company {
		return
	}
	left := yields
	if w.dialect.posts {
		left = longer
	}
	for ; left > 0; left-- {
		runtime.Gosched()
		if !w.dialect.posts {
			continue
		}
		w.mu.Lock()
		switch {
		case len(w.queue) >= w.full-1:
			left = 0
		case len(w.queue) > came:
			left, came = longer, len(w.queue)
		}
		w.mu.Unlock()
	}
}

// mend connects a lane anew whose connection was lost.
func (w *writer) mend(ctx context.Context, lane *session) error {
	if w.connect == nil || !lane.lost() {
		return nil
	}
	anew, err := w.connect(ctx)
	if err != nil {
		return dberr.Failed(w.place, "connect", err)
	}
	_ = lane.close() // it is lost
	*lane = *anew
	return nil
}

// pass hands out the results of a batch, and the lead.
func (w *writer) pass(lane *session, followers []*write) {
	for _, one := range followers {
		close(one.ready)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.company = max(w.company-1, 0); len(followers)+len(w.queue) > 0 {
		w.company = alike
	}
	w.free = append(w.free, lane)
	w.hand()
	if len(w.free) == w.lanes {
		w.idle.Broadcast()
	}
}

// hand lets the first write in the queue lead if no goroutine leads, or if enough writes
// queue to justify another lane.
func (w *writer) hand() {
	for len(w.queue) > 0 && len(w.free) > 0 && (len(w.free) == w.lanes || len(w.queue) >= w.full) {
		last := len(w.free) - 1
		next := w.queue[0]
		next.lane = w.free[last]
		w.queue, w.free = w.queue[1:], w.free[:last]
		close(next.ready)
	}
}

// join moves what may share a transaction from the head of the queue to the
// batch.
func (w *writer) join(batch []*write) []*write {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	most := min(w.pace.most(), w.full)
	for n < len(w.queue) && n+len(batch) < most && !w.queue[n].alone && !w.queue[n].bare {
		n++
	}
	batch = append(batch, w.queue[:n]...)
	w.queue = w.queue[n:]
	return batch
}

// breakDown lets nothing more be written. After a failed fsync the kernel may
// have dropped the pages: trying once more on the same handle could succeed and
// lose them.
func (w *writer) breakDown(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = why
	}
}

// hangUp closes the lanes of a writer that is closed.
func (w *writer) hangUp() error {
	var errs []error
	if w.apart != w {
		errs = append(errs, w.apart.hangUp())
	}
	replaced := w.files != nil && w.files.logReplaced()
	for _, lane := range w.free {
		if replaced {
			errs = append(errs, lane.keepLog())
		}
		if err := lane.close(); !lane.dialect.posts {
			errs = append(errs, err)
		} // of a server that is gone, nothing is left to say
	}
	return errors.Join(errs...)
}

// close refuses new writes, waits for those under way, and does a last write unless the
// writer is broken. Called again it does nothing.
func (w *writer) close(ctx context.Context, last *write) error {
	may := w.refuse()
	if w.apart != w {
		w.apart.refuse()
	}
	if !may {
		return nil
	}
	w.apart.write(ctx, w.apart.free[0], []*write{last})
	return last.err
}

// refuse refuses new writes, waits for those under way, and reports whether
// there may be a last write.
func (w *writer) refuse() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.closed = true
	for len(w.free) < w.lanes {
		w.idle.Wait()
	}
	return w.broken == nil
}

// othersVersion returns a number that changes with each write of another process. It is
// asked for on the writer's connection, so commits of this process do not count.
func (w *writer) othersVersion(ctx context.Context) (version int64, err error) {
	err = w.run(ctx, &write{bare: true, do: func(ctx context.Context, s *session) error {
		return s.get(ctx, &version, "PRAGMA data_version")
	}})
	return version, err
}
