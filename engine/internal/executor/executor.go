package executor

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/backend"
)

// Settings are shared by the executors of all runs of a process.
type Settings struct {
	Parallel   int           // maximum number of concurrent calls of a run
	Grace      time.Duration // how long a call may continue after its context has ended
	Log        hclog.Logger
	Store      backend.Store
	Middleware []func(next atom.Body) atom.Body // outermost first
	GivenUp    *atomic.Int64                    // counts the calls that were given up
}

// A Host contains what calls need to know about their run.
type Host struct {
	Claim   backend.Claim
	Root    string    // id of the topmost run of those that created one another
	Created time.Time // when the run was created
	Driver  Driver
}

// A Driver drives a run. Any goroutine may call its methods.
type Driver interface {
	// Wake makes the driver check for ended calls and requests.
	Wake()
	// Broken tells the driver that the store failed an atom. If the atom returns an error afterwards, the error is
	// not the atom's failure.
	Broken(err error)
}

// An Executor makes the calls of one run. Only the driver's goroutine may use it, except for reports and ends.
type Executor struct {
	*Settings

	host Host
	ctx  context.Context //nolint:containedctx // what calls live in
	halt context.CancelCauseFunc

	queue      []*Call                   // calls to make after the commit of what led to them
	byUnit     map[*scheduler.Unit]*Call // executing calls in queue, after the first search; nil while it is empty
	emptied    []*Call                   // buffer for the queue, while it is empty
	dispatched []*Call                   // calls that other goroutines are making
	inFlight   map[*scheduler.Unit]*Call // the executing calls in dispatched, after the first search
	pool       pool
	spares     []Call        // calls that are allocated and not used yet
	prepared   int           // number of calls so far
	held       int           // so many of them existed when a call last waited for a slot
	stuck      chan *Call    // calls whose grace period is over
	gone       chan struct{} // closed by Stop
	reports    reports
}

// Init prepares an executor. The contexts of its calls derive from ctx, without its cancellation, and end with
// Halt.
func (x *Executor) Init(ctx context.Context, s *Settings, h Host) {
	x.Settings, x.host = s, h
	x.pool.some, x.stuck, x.gone = make(chan struct{}, 1), make(chan *Call), make(chan struct{})
	x.ctx, x.halt = context.WithCancelCause(context.WithoutCancel(ctx))
}

// Context returns the context from which the contexts of calls derive.
func (x *Executor) Context() context.Context { return x.ctx }

// Halt ends the contexts of all calls, with the cause [ErrStopped]. Any goroutine may call it.
func (x *Executor) Halt() { x.halt(ErrStopped) }

// maxSpares bounds the number of calls that are allocated at once: user code may retain a call's context, which
// then retains all of them.
const maxSpares = 32

// NewCall returns an empty call. It allocates as many calls at once as there were before, so a short run does not
// allocate space for many.
func (x *Executor) NewCall() *Call {
	if len(x.spares) == 0 {
		x.spares = make([]Call, min(max(x.prepared, 1), maxSpares))
	}
	c := &x.spares[0]
	x.spares = x.spares[1:]
	x.prepared++
	c.of, c.number = x, x.prepared
	c.life.of(x.ctx)
	return c
}

// Queue adds a call to the queue. An empty queue reuses the last buffer, so that a single call does not need a
// buffer of its own.
func (x *Executor) Queue(c *Call) {
	if len(x.queue) == 0 {
		x.queue = x.emptied
	}
	x.queue = append(x.queue, c)
	if len(x.queue) == 1 {
		x.emptied = x.queue[:0]
	}
	if x.byUnit != nil && !c.About.Revert {
		x.byUnit[c.Unit] = c
	}
}

// Queued returns the number of calls in the queue.
func (x *Executor) Queued() int { return len(x.queue) }

// Next returns the first call in the queue. Take removes it.
func (x *Executor) Next() *Call { return x.queue[0] }

// Take removes the first call from the queue.
func (x *Executor) Take() {
	if c := x.queue[0]; !c.About.Revert {
		delete(x.byUnit, c.Unit)
	}
	x.shift()
	x.trim()
}

func (x *Executor) shift() {
	x.queue[0] = nil
	if x.queue = x.queue[1:]; len(x.queue) == 0 {
		x.byUnit = nil
	}
}

// trim removes calls that were given up from the front of the queue. Others stay until they reach the front,
// because removing each one at once would move the rest each time.
func (x *Executor) trim() {
	for len(x.queue) > 0 && x.queue[0].givenUp {
		x.shift()
	}
}

// Running returns the number of calls that other goroutines are making.
func (x *Executor) Running() int { return len(x.dispatched) }

// Hold notes that the calls in the queue wait for a free slot.
func (x *Executor) Hold() { x.held = x.prepared }

// Held reports whether the call waited for a free slot.
func (c *Call) Held() bool { return c.number <= c.of.held }

// Full reports whether the maximum number of calls is running.
func (x *Executor) Full() bool { return len(x.dispatched) >= x.Parallel }

// Dispatch makes a call on another goroutine.
func (x *Executor) Dispatch(c *Call) {
	x.Adopt(c)
	if c.Timeout > 0 {
		after := c.Timeout + x.Grace
		if after < c.Timeout { // it overflows
			after = math.MaxInt64
		}
		x.giveUpAfter(c, after)
	}
	x.pool.add(c)
}

// Adopt adds a call that another goroutine has already started.
func (x *Executor) Adopt(c *Call) {
	c.flight = len(x.dispatched)
	x.dispatched = append(x.dispatched, c)
	if x.inFlight != nil && !c.About.Revert {
		x.inFlight[c.Unit] = c
	}
}

// Makes reports whether another goroutine is making a call.
func (x *Executor) Makes(c *Call) bool {
	return c.flight < len(x.dispatched) && x.dispatched[c.flight] == c
}

// Report passes the end of a call to the driver. Any goroutine may call it.
func (x *Executor) Report(f Finished) { x.pool.report(f) }

// Ended returns a channel that receives a value when calls have ended.
func (x *Executor) Ended() <-chan struct{} { return x.pool.some }

// Completed returns the end of a call that another goroutine made, each end once. It skips calls that were given
// up.
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

// remove removes a call from dispatched.
func (x *Executor) remove(c *Call) {
	last := len(x.dispatched) - 1
	moved := x.dispatched[last]
	x.dispatched[c.flight], moved.flight = moved, c.flight
	x.dispatched[last] = nil
	x.dispatched = x.dispatched[:last]
	delete(x.inFlight, c.Unit)
	if c.late != nil {
		c.late.Stop()
	}
}

// Cancel ends the running or queued call of a unit. If abandoned is true, the executor does not wait for
// its end.
func (x *Executor) Cancel(u *scheduler.Unit, abandoned bool) {
	if c := find(&x.inFlight, x.dispatched, u); c != nil {
		if due := c.due.Load(); due == nil || time.Until(*due) > 0 { // else its time is up, and so its own limit ends it
			c.life.end()
		}
		if abandoned {
			x.remove(c)
			c.givenUp = true
			return
		}
		if !c.told {
			c.told = true
			x.giveUpAfter(c, x.Grace)
		}
		return
	}
	switch c := find(&x.byUnit, x.queue, u); {
	case c == nil:
	case abandoned:
		delete(x.byUnit, u)
		c.givenUp = true
		x.trim()
	default:
		c.Missing = &atom.Failure{Atom: c.About.Path, Code: atom.CodeCancelled, Message: "cancelled before it started"}
	}
}

// find returns the executing call of a unit; nil if there is none. It uses an index, because very many
// calls may be cancelled one after the other.
func find(index *map[*scheduler.Unit]*Call, calls []*Call, u *scheduler.Unit) *Call {
	if *index == nil {
		*index = make(map[*scheduler.Unit]*Call, len(calls))
		for _, c := range calls {
			if !c.About.Revert && !c.givenUp {
				(*index)[c.Unit] = c
			}
		}
	}
	return (*index)[u]
}

// Stop ends the contexts of all calls, and waits for running calls up to their grace period.
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
