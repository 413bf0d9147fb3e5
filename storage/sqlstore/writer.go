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
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/turns"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	//limit:storage runs' commits in one transaction | {} | the next transaction
	maxBatch = 1000
	yields   = 3  // yields before the leader closes a batch, so that goroutines that were just woken can join
	enough   = 64 // number of queued writes with which the leader closes a batch without a yield; not on a server
	longer   = 30 // yields after the last write that joined, if the round trip to the database is long
	alike    = 16 // number of transactions after a shared one for which the writer expects company
)

// A write is one change that a caller asks for.
type write struct {
	do         func(context.Context, *session) error // writes the rows in a transaction; may be called more than once
	idle       func() bool                           // reports whether do changed nothing; nil if it changes something
	judge      func(context.Context, *session) error // interprets errUnpassed; nil if do never returns it
	then       func()                                // runs after the commit; may be nil
	arrivals   wakeup.Change                         // which waiting callers the change concerns
	runs       []string                              // ids of runs whose rows the write locks
	number     int64                                 // number of the run if runs has one id and its number is known
	takes      bool                                  // takes over that run, which had no owner when its fence was fence
	fence      int64
	makes      int                   // number of runs that the write creates, as far as known
	checks     []storage.RecordCheck // records that the write reads first
	alone      bool                  // shares its transaction with no other write, and may take long
	bare       bool                  // runs outside of any transaction
	checkpoint bool                  // has failpoints around its commit
	again      bool                  // the caller repeats the write if the answer is lost

	done    <-chan struct{} // closed when the caller gives up; nil means never
	err     error
	ready   chan struct{} // closed when the write is done or must lead; nil for a leader
	session *session      // session to lead with; nil when the write is done
}

// errUnpassed is the error of a write whose guard matched no row, and which has changed nothing.
var errUnpassed = errors.New("sqlstore: the guard matched no row")

// errHeld is the error of a write that was left out of a transaction because another transaction is writing its
// runs.
var errHeld = errors.New("sqlstore: another transaction is writing the run")

// A writer makes all writes of its process to the database. A goroutine that finds no leader becomes the leader: it
// puts its own write and the writes that queue meanwhile into one transaction and hands out the results. Then it passes
// the lead to the next goroutine in the queue. Therefore, a single write never waits, and many writes share a COMMIT.
// On a server, a second goroutine leads beside the first when enough writes queue for a whole transaction. Writes that
// go alone have a writer of their own there, because users may keep them open and other transactions may block them. No
// other write waits for them.
type writer struct {
	place    string
	dialect  *dialect
	session  *session   // the first session
	free     []*session // sessions without a leader
	sessions int        // how many there are
	// full is the maximum number of writes in a transaction. When this many writes queue, another leader starts.
	full    int
	apart   *writer                                 // writer for writes that go alone; itself if there is one session
	connect func(context.Context) (*session, error) // reconnects a session that lost its connection; nil if none can
	turns   gate
	files   *dbfile.Site        // checked before each commit; nil for none
	space   *logSpace           // space of the WAL; nil if there is none
	wal     func()              // called after each commit; starts WAL checkpoints
	waiting func(wakeup.Change) // called after each commit that a goroutine or another process may wait for
	counts  *counts

	pace pace

	// committed replaces the answer of a COMMIT in tests; nil otherwise.
	committed func(error) error

	mu      sync.Mutex
	queue   []*write
	company int       // number of further leaders for which other writes are expected to queue meanwhile
	idle    sync.Cond // signaled when no goroutine leads
	closed  bool
	broken  error // why the writer refuses writes; nil if it does not
}

// A gate is entered before writing and left afterwards.
type gate interface {
	// Enter waits for the turn. If done is closed first, the error wraps turns.ErrNoTurn.
	Enter(done <-chan struct{}) error
	// Leave reports whether another process waits to enter.
	Leave() (wanted bool, err error)
}

func newWriter(place string, gate gate, sessions ...*session) *writer {
	w := &writer{
		place: place, dialect: sessions[0].dialect,
		session: sessions[0], free: slices.Clone(sessions), sessions: len(sessions),
		full: maxBatch, turns: gate, wal: func() {}, waiting: func(wakeup.Change) {}, counts: &counts{},
	}
	w.apart, w.idle.L = w, &w.mu
	return w
}

// run does a write and returns when it is durable. If ctx ends before the write begins, nothing is written. If
// another transaction is writing the runs of this write, the write goes alone, so that other writes do not wait
// with it.
func (w *writer) run(ctx context.Context, one *write) error {
	if one.alone && w.apart != w {
		return w.apart.run(ctx, one)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	one.done, one.session = ctx.Done(), nil
	w.mu.Lock()
	switch {
	case w.closed:
		w.mu.Unlock()
		return storage.ErrClosed
	case w.broken != nil && !one.bare:
		w.mu.Unlock()
		return w.broken
	case len(w.free) < w.sessions:
		if err := w.wait(ctx, one); err != nil {
			return err
		}
	default:
		last := len(w.free) - 1
		one.session, w.free = w.free[last], w.free[:last]
		w.mu.Unlock()
	}
	if one.session != nil {
		// Without cancellation, database/sql does not watch ctx during each statement.
		w.lead(context.WithoutCancel(ctx), one)
	}
	switch {
	case waits(one.err) && w.apart != w:
		one.alone = true
		return w.apart.run(ctx, one)
	case errors.Is(one.err, turns.ErrNoTurn) && ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), one.err)
	default:
		return one.err
	}
}

// wait queues a write, and waits until a leader has done it or it must lead itself. If ctx ends first, wait returns
// an error. The caller has locked the writer; wait unlocks it.
func (w *writer) wait(ctx context.Context, one *write) error {
	one.ready = make(chan struct{})
	w.queue = append(w.queue, one)
	w.hand()
	w.mu.Unlock()
	select {
	case <-one.ready:
		return nil
	case <-ctx.Done():
		if w.withdraw(one) {
			return w.late(ctx)
		}
		<-one.ready
		return nil
	}
}

// late returns the error of a write whose caller gave up while it was queued.
func (w *writer) late(ctx context.Context) error {
	if t, is := w.turns.(*turns.Queue); is && t.Waits() {
		return fmt.Errorf("%w: %w: %v", ctx.Err(), turns.ErrNoTurn, t)
	}
	return ctx.Err()
}

// part gives the writes that go alone a writer with these sessions.
func (w *writer) part(sessions ...*session) {
	w.apart = newWriter(w.place, w.turns, sessions...)
	w.apart.full = 1
	w.apart.connect, w.apart.waiting, w.apart.counts = w.connect, w.waiting, w.counts
}

// withdraw removes a write from the queue, if it is still there.
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

// lead does the first write and the writes that may share its transaction, and passes the lead on.
func (w *writer) lead(ctx context.Context, first *write) {
	session, batch := first.session, []*write{first}
	defer func() { w.pass(session, batch[1:]) }() // also if a caller's function panics
	if first.bare {
		first.err = dberr.Failed(w.place, "read", first.do(ctx, session))
		return
	}
	if !first.alone {
		w.gather()
		batch = w.join(batch)
	}
	if left := w.settle(ctx, session, batch, w.attempt(ctx, session, batch)); len(left) > 0 {
		batch = batch[:len(batch)-len(left)]
		w.putBack(left)
	}
}

// putBack returns writes that were not started to the head of the queue.
func (w *writer) putBack(left []*write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = slices.Concat(left, w.queue)
}

// gather lets goroutines that a commit has just woken join the batch, if recent batches were shared. Each yield
// wakes an idle processor, which costs a single run more than writing its rows. On a server, where a yield is cheap
// compared with the round trip, gather continues as long as writes join.
func (w *writer) gather() {
	left, most := yields, enough
	if w.dialect.Posts {
		left, most = longer, w.full-1
	}
	w.mu.Lock()
	company, came := w.company > 0 && len(w.queue) < most, len(w.queue)
	w.mu.Unlock()
	if !company {
		return
	}
	for ; left > 0; left-- {
		runtime.Gosched()
		if !w.dialect.Posts {
			continue
		}
		w.mu.Lock()
		switch {
		case len(w.queue) >= most:
			left = 0
		case len(w.queue) > came:
			left, came = longer, len(w.queue)
		}
		w.mu.Unlock()
	}
}

// mend reconnects a session whose connection was lost.
func (w *writer) mend(ctx context.Context, session *session) error {
	if w.connect == nil || !session.Lost() {
		return nil
	}
	anew, err := w.connect(ctx)
	if err != nil {
		return dberr.Failed(w.place, "connect", err)
	}
	_ = session.Close() // the connection is lost
	*session = *anew
	return nil
}

// pass hands out the results of a batch, and passes the lead on.
func (w *writer) pass(session *session, followers []*write) {
	for _, one := range followers {
		close(one.ready)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.company = max(w.company-1, 0); len(followers)+len(w.queue) > 0 {
		w.company = alike
	}
	w.free = append(w.free, session)
	w.hand()
	if len(w.free) == w.sessions {
		w.idle.Broadcast()
	}
}

// hand lets the first write in the queue lead if no goroutine leads, or if enough writes queue to justify another
// leader.
func (w *writer) hand() {
	for len(w.queue) > 0 && len(w.free) > 0 && (len(w.free) == w.sessions || len(w.queue) >= w.full) {
		last := len(w.free) - 1
		next := w.queue[0]
		next.session = w.free[last]
		w.free = w.free[:last]
		w.shift(1)
		close(next.ready)
	}
}

// join moves writes that may share a transaction from the head of the queue to the batch. Bare writes stay at the
// head: after most commits, a waiting goroutine queues one, and a batch that ended there would contain only a part
// of the queue.
func (w *writer) join(batch []*write) []*write {
	w.mu.Lock()
	defer w.mu.Unlock()
	var bare []*write
	n := 0
	for most := min(w.pace.most(), w.full); n < len(w.queue) && len(batch) < most && !w.queue[n].alone; n++ {
		if w.queue[n].bare {
			bare = append(bare, w.queue[n])
		} else {
			batch = append(batch, w.queue[n])
		}
	}
	n -= len(bare)
	copy(w.queue[n:], bare)
	w.shift(n)
	return batch
}

// shift takes the first n writes out of the queue and clears their places. A write refers to its whole run, and an
// idle writer keeps the array of its queue, so it would keep the run in memory.
func (w *writer) shift(n int) {
	clear(w.queue[:n])
	w.queue = w.queue[n:]
}
