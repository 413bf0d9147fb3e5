package executor

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// Settings are what the executors of all runs of a process have in common.
type Settings struct {
	Parallel   int           // how many calls of a run are made at once
	Grace      time.Duration // how long a call may go on after its context has ended
	Log        hclog.Logger
	Store      storage.Store
	Middleware []func(next atom.Body) atom.Body // the outermost first
	GivenUp    *atomic.Int64                    // counts the calls that were given up
}

// A Host is the run whose calls are made, as far as they have to do with it.
type Host struct {
	Claim   storage.Claim
	Created time.Time // of the run
	Driver  Driver
}

// A Driver drives a run. Its methods may be called by any goroutine.
type Driver interface {
	// Wake lets the driver look around.
	Wake()
	// Broken tells the driver that the store failed an atom: whatever that atom returns
	// now is no failure of its own.
	Broken(err error)
}

// An Executor makes the calls of one run. Except for what is said of reports and ends, it is
// the driver's alone.
type Executor struct {
	*Settings

	host Host
	ctx  context.Context //nolint:containedctx // what calls live in
	halt context.CancelCauseFunc

	queue      []*Call       // to be made once what led to them is committed
	byKey      map[key]*Call // those of the queue that execute, once one was looked for; nil while the queue is empty
	emptied    []*Call       // buffer for the queue, while it is empty
	dispatched []*Call       // those that other goroutines make
	inFlight   map[key]*Call // those of them that execute, once one was looked for
	pool       pool
	spares     []Call        // buffer for calls that are still to be prepared
	prepared   int           // calls so far
	stuck      chan *Call    // those whose grace is over
	gone       chan struct{} // closed by Stop
	reports    reports
}

type key struct {
	node *scheduler.Node
	atom int32
}

func (c *Call) key() key { return key{c.Node, c.Atom} }

// Init prepares an executor. Its calls live in ctx, without its cancellation, until Halt.
func (x *Executor) Init(ctx context.Context, s *Settings, h Host) {
	x.Settings, x.host = s, h
	x.pool.some, x.stuck, x.gone = make(chan struct{}, 1), make(chan *Call), make(chan struct{})
	x.ctx, x.halt = context.WithCancelCause(context.WithoutCancel(ctx))
}

// Context returns the context that calls live in.
func (x *Executor) Context() context.Context { return x.ctx }

// Halt ends the contexts of all calls, with [ErrStopped] as the cause. Any goroutine may do so.
func (x *Executor) Halt() { x.halt(ErrStopped) }

// maxSpares is how many calls are allocated at once, at most: user code may hold
// on to a call's context, which then holds all of them.
const maxSpares = 32

// NewCall returns an empty call. It allocates as many at once as there were
// before: a short run does not need space for many.
func (x *Executor) NewCall() *Call {
	if len(x.spares) == 0 {
		x.spares = make([]Call, min(max(x.prepared, 1), maxSpares))
	}
	c := &x.spares[0]
	x.spares = x.spares[1:]
	x.prepared++
	c.of = x
	c.life.of(x.ctx)
	return c
}

// SetBody sets whose call it is. The body is nil if Missing says why.
func (c *Call) SetBody(body atom.Body) {
	if q, ok := body.(atom.Queued); ok && c.Missing == nil {
		c.Work = q.Queue(&c.About)
	}
	if body != nil {
		for _, wrap := range slices.Backward(c.of.Middleware) {
			body = wrap(body)
		}
	}
	c.Body = body
}

// Queue lets a call wait to be made. An empty queue begins where the last one
// did, so that a call that waits alone does not need a buffer of its own.
func (x *Executor) Queue(c *Call) {
	if len(x.queue) == 0 {
		x.queue = x.emptied
	}
	x.queue = append(x.queue, c)
	if len(x.queue) == 1 {
		x.emptied = x.queue[:0]
	}
	if x.byKey != nil && !c.About.Revert {
		x.byKey[c.key()] = c
	}
}

// Queued returns how many calls wait to be made.
func (x *Executor) Queued() int { return len(x.queue) }

// Next returns the call that is to be made next. Take takes it out.
func (x *Executor) Next() *Call { return x.queue[0] }

// Take takes the call that is to be made next out of the queue.
func (x *Executor) Take() {
	if c := x.queue[0]; !c.About.Revert {
		delete(x.byKey, c.key())
	}
	x.shift()
	x.trim()
}

func (x *Executor) shift() {
	x.queue[0] = nil
	if x.queue = x.queue[1:]; len(x.queue) == 0 {
		x.byKey = nil
	}
}

// trim takes calls that were given up from the front of the queue. Others stay behind the
// calls before them: to take out each at once would move the rest each time.
func (x *Executor) trim() {
	for len(x.queue) > 0 && x.queue[0].givenUp {
		x.shift()
	}
}

// Running returns how many calls other goroutines are making.
func (x *Executor) Running() int { return len(x.dispatched) }

// Full reports whether no more calls may be made at once.
func (x *Executor) Full() bool { return len(x.dispatched) >= x.Parallel }

// Dispatch lets another goroutine make a call.
func (x *Executor) Dispatch(c *Call) {
	x.Adopt(c)
	if c.Timeout > 0 {
		x.giveUpAfter(c, c.Timeout+x.Grace)
	}
	x.pool.add(c)
}

// Adopt adds a call to those that other goroutines make: one has begun it.
func (x *Executor) Adopt(c *Call) {
	c.flight = len(x.dispatched)
	x.dispatched = append(x.dispatched, c)
	if x.inFlight != nil && !c.About.Revert {
		x.inFlight[c.key()] = c
	}
}

// Makes reports whether another goroutine is making a call.
func (x *Executor) Makes(c *Call) bool {
	return c.flight < len(x.dispatched) && x.dispatched[c.flight] == c
}

// Report leaves the end of a call to the driver. Any goroutine may do so.
func (x *Executor) Report(f Finished) { x.pool.report(f) }

// Ended returns a channel that tells that calls have ended.
func (x *Executor) Ended() <-chan struct{} { return x.pool.some }

// Completed returns the end of a call that another goroutine has made, once. It leaves out
// those of calls that were given up.
func (x *Executor) Completed() (Finished, bool) {
	for {
		f, ok := x.pool.completed()
		if !ok {
			return f, false
		}
		if !f.Call.givenUp {
			x.remove(f.Call)
			return f, true
		}
		x.endedLate(f.Call)
	}
}

// remove removes a call from those that other goroutines make.
func (x *Executor) remove(c *Call) {
	last := len(x.dispatched) - 1
	moved := x.dispatched[last]
	x.dispatched[c.flight], moved.flight = moved, c.flight
	x.dispatched[last] = nil
	x.dispatched = x.dispatched[:last]
	delete(x.inFlight, c.key())
	if c.late != nil {
		c.late.Stop()
	}
}

// Cancel ends what executes for an atom or node, or what was about to. Abandoned, its end is
// not waited for.
func (x *Executor) Cancel(node *scheduler.Node, a int32, abandoned bool) {
	k := key{node, a}
	if c := find(&x.inFlight, x.dispatched, k); c != nil {
		c.life.end()
		if abandoned {
			x.remove(c)
			c.givenUp = true
			return
		}
		c.told = true
		x.giveUpAfter(c, x.Grace)
		return
	}
	switch c := find(&x.byKey, x.queue, k); {
	case c == nil:
	case abandoned:
		delete(x.byKey, k)
		c.givenUp = true
		x.trim()
	default:
		c.Missing = &atom.Failure{Atom: c.About.Path, Code: atom.CodeCancelled, Message: "cancelled before it began"}
	}
}

// find returns the call of an atom or node that executes, nil when there is none. Very
// many may be cancelled one after the other, so they are found by an index.
func find(index *map[key]*Call, calls []*Call, k key) *Call {
	if *index == nil {
		*index = make(map[key]*Call, len(calls))
		for _, c := range calls {
			if !c.About.Revert && !c.givenUp {
				(*index)[c.key()] = c
			}
		}
	}
	return (*index)[k]
}

// Stop ends the contexts of all calls, and waits for those that other goroutines make, as
// long as their grace lasts.
func (x *Executor) Stop() {
	x.Halt()
	defer close(x.gone)
	if len(x.dispatched) == 0 {
		return
	}
	for _, c := range x.dispatched {
		c.life.end()
	}
	grace := time.NewTimer(x.Grace)
	defer grace.Stop()
	for len(x.dispatched) > 0 {
		if _, ok := x.Completed(); ok {
			continue
		}
		select {
		case <-x.pool.some:
		case <-grace.C:
			for len(x.dispatched) > 0 {
				x.giveUp(x.dispatched[0])
			}
		}
	}
}
