package executor

import (
	"sync"
)

// A pool makes calls of a run on goroutines of its own, and stores their ends until the driver reads them. A
// goroutine makes one call after the other, as long as there are calls. If it takes a call while more are left, it
// starts another goroutine, unless one is starting. Therefore, short calls use as many goroutines as there are
// processors, and a call that blocks does not delay others.
type pool struct {
	mu       sync.Mutex
	calls    fifo[*Call]
	starting bool // a goroutine is starting and has taken no call yet
	ended    fifo[Finished]
	some     chan struct{} // receives a value when calls have ended
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

// add adds a call to make.
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

// work is the body of a goroutine of the pool.
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
		p.report(Finished{c, ev, known, c.of.Store.Now()})
	}
}

// take returns the next call, or nil if there is none.
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

// report stores the end of a call for the driver.
func (p *pool) report(f Finished) {
	p.mu.Lock()
	p.ended.push(f)
	p.mu.Unlock()
	select {
	case p.some <- struct{}{}:
	default:
	}
}

// completed returns the end of a call that the driver has not read.
func (p *pool) completed() (Finished, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended.pop()
}
