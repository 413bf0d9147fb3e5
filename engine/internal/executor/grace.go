package executor

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/logevent"
)

// giveUpAfter gives a call up if it is still running after that time.
func (x *Executor) giveUpAfter(c *Call, after time.Duration) {
	if c.late != nil && !c.late.Stop() {
		return // another goroutine is giving it up
	}
	c.late = time.AfterFunc(after, func() {
		select {
		case x.stuck <- c:
		case <-x.gone:
		}
	})
}

// Stuck returns a channel of calls whose grace period is over. The driver gives them up.
func (x *Executor) Stuck() <-chan *Call { return x.stuck }

// GiveUp stops waiting for a call whose grace period is over, and returns the event that reports its end. If the
// call has ended meanwhile, GiveUp returns false.
func (x *Executor) GiveUp(c *Call) (scheduler.Event, bool) {
	if !x.Makes(c) {
		return scheduler.Event{}, false
	}
	x.giveUp(c)
	ev := c.completed()
	f := &atom.Failure{Atom: c.About.Path, Attempt: c.About.Attempt, Code: atom.CodeTimeout}
	f.Message = fmt.Sprintf("the attempt took longer than %v and had not ended %v later", c.Timeout, x.Grace)
	if c.told {
		f.Code = atom.CodeCancelled
		f.Message = fmt.Sprintf("it was cancelled and had not ended %v later", x.Grace)
	}
	ev.Failure = f
	return ev, true
}

func (x *Executor) giveUp(c *Call) {
	x.remove(c)
	c.givenUp = true
	x.GivenUp.Add(1)
	x.Log.Error(logevent.AtomAbandoned, logevent.Attributes("run", c.About.Run, "path", c.About.Path, "attempt",
		c.About.Attempt,
		"revert", c.About.Revert, "grace", x.Grace)...)
}

func (x *Executor) endedLate(c *Call) {
	x.Log.Warn(logevent.AtomEndedLate, "run", c.About.Run, "path", c.About.Path, "attempt", c.About.Attempt)
}
