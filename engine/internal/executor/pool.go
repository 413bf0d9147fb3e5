package executor

import (
	"sync"
	"time"
)

// A pool makes calls of a run on goroutines of its own, and keeps what has come
// of them until the driver takes it in. A goroutine makes one call after the
// other, as long as there are some; one that takes a call while more are left starts
// another goroutine, unless one is starting already. So short calls are made by as
// many goroutines as there are processors, and a call that blocks delays no other.
type pool struct {
	mu       sync.Mutex
	calls    fifo[*Call]
	starting bool // a goroutine is, and has taken no call yet
	ended    fifo[Finished]
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

// add gives the pool a call to make.
func (p *pool) add(c *Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls.push(c)
	p.start()
}

// start starts a goroutine if one is needed. The pool is locked.
func (p *pool) start() {
	if !p.starting && !p.calls.empty() {
		p.starting = true
		go p.work()
	}
}

// work is the life of a goroutine of the pool.
func (p *pool) work() {
	var c *Call
	defer func() {
		if c != nil {
			p.report(c.Vanished())
		}
	}()
	for first := true; ; first = false {
		if c = p.take(first); c == nil {
			return
		}
		ev, known := c.Make()
		p.report(Finished{c, ev, known, time.Now()})
	}
}

// take returns the next call, or nil when there is none.
func (p *pool) take(first bool) *Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first {
		p.starting = false
	}
	c, _ := p.calls.pop()
	p.start()
	return c
}

// report leaves the end of a call to the driver.
func (p *pool) report(f Finished) {
	p.mu.Lock()
	p.ended.push(f)
	p.mu.Unlock()
	select {
	case p.some <- struct{}{}:
	default:
	}
}

// completed returns the end of a call that the driver has not taken in yet.
func (p *pool) completed() (Finished, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended.pop()
}
