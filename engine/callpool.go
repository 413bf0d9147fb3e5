package engine

import (
	"errors"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// A callPool makes calls of a run on goroutines of its own, and keeps what has come
// of them until the driver takes it in. A goroutine makes one call after the
// other, as long as there are some; a worker that takes one while more are left starts
// another goroutine, unless one is starting already. So short calls are made by as
// many goroutines as there are processors, and a call that blocks delays no other.
type callPool struct {
	mu       sync.Mutex
	calls    fifo[*call]
	starting bool // a goroutine is, and has taken no call yet
	ended    fifo[finished]
	some     chan struct{} // tells that some have ended
}

// fifo is a queue that keeps its buffer.
type fifo[T any] struct {
	list []T
	next int
}

func (q *fifo[T]) push(v T) { q.list = append(q.list, v) }

func (q *fifo[T]) pop() (v T, ok bool) {
	if q.next == len(q.list) {
		return v, false
	}
	v, q.list[q.next] = q.list[q.next], v
	if q.next++; q.next == len(q.list) {
		q.list, q.next = q.list[:0], 0
	}
	return v, true
}

func (q *fifo[T]) empty() bool { return q.next == len(q.list) }

// add gives the call pool a call to make.
func (w *callPool) add(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls.push(c)
	w.start()
}

// start starts a goroutine if one is needed. The call pool is locked.
func (w *callPool) start() {
	if !w.starting && !w.calls.empty() {
		w.starting = true
		go w.work()
	}
}

// work is the life of a goroutine of the call pool.
func (w *callPool) work() {
	var c *call
	defer func() {
		if c != nil {
			w.report(c.vanished())
		}
	}()
	for first := true; ; first = false {
		if c = w.take(first); c == nil {
			return
		}
		ev, known := c.make()
		c.life.end()
		w.report(finished{c, ev, known, c.driver.e.now()})
	}
}

// vanished is how a call ends whose task has ended the goroutine it was called on,
// see [runtime.Goexit].
func (c *call) vanished() finished {
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: c.atom, Node: c.node, Revert: c.about.Revert}
	ev.Failure = atom.NewFailure(c.about.Path, c.about.Attempt, errors.New("the task ended its goroutine"))
	return finished{c, ev, true, c.driver.e.now()}
}

// take returns the next call, or nil when there is none.
func (w *callPool) take(first bool) *call {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first {
		w.starting = false
	}
	c, _ := w.calls.pop()
	w.start()
	return c
}

// report leaves the end of a call to the driver.
func (w *callPool) report(f finished) {
	w.mu.Lock()
	w.ended.push(f)
	w.mu.Unlock()
	select {
	case w.some <- struct{}{}:
	default:
	}
}

// completed returns the end of a call that the driver has not taken in yet.
func (w *callPool) completed() (finished, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended.pop()
}
