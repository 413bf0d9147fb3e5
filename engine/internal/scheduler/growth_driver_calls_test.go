package scheduler_test

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// launch makes the calls that are due. Their effects happen now, their ends are reported later.
func (g *gardener) launch() {
	for _, c := range g.calls {
		c.Unit.MarkCalled()
		ev := scheduler.Event{Kind: scheduler.Completed, Unit: c.Unit, Revert: c.Op == scheduler.Revert, Result: atom.Null}
		step := decode[toyStep](c.Unit.Node.Spec.Input)
		switch {
		case ev.Revert:
			if _, done := c.Outcome.Done(); done && g.world[c.Unit.Path] == 0 && !g.crashed {
				g.tb.Errorf("%s is reverted as done, and nothing was done", c.Unit.Path)
			}
			if step.Stuck {
				ev.Failure = &atom.Failure{Atom: c.Unit.Path, Code: "Stuck"}
			} else {
				delete(g.world, c.Unit.Path)
			}
		case step.Fails > 0:
			ev.Failure = &atom.Failure{Atom: c.Unit.Path, Code: "Boom"}
		case step.Undo:
			g.world[c.Unit.Path]++
		}
		g.ended = append(g.ended, ev)
	}
	g.calls = nil
}

// cancel ends what executes: its effect may have happened.
func (g *gardener) cancel(u *scheduler.Unit) {
	cancelled := &atom.Failure{Atom: u.Path, Code: atom.CodeCancelled}
	for i := range g.ended {
		switch {
		case g.ended[i].Unit != u:
		case !g.own && g.pick(2) == 0:
			g.ended[i].Result, g.ended[i].Failure = nil, cancelled
		default:
			g.ended[i].Own = true
		}
	}
	for i := range g.calls {
		if g.calls[i].Unit == u {
			g.calls = slices.Delete(g.calls, i, i+1)
			g.ended = append(g.ended, scheduler.Event{Kind: scheduler.Completed, Unit: u, Failure: cancelled})
			break
		}
	}
}

// end describes how it ended, as far as that may not depend on crashes.
func (g *gardener) end() string {
	how := g.over.FlowTo.String()
	if e := g.over.End; e != nil {
		code := ""
		if e.Failure != nil {
			code = e.Failure.Code
		}
		how += fmt.Sprintf(" value %s failure %q timed out %t", e.Value, code, g.over.PendingOutcome == scheduler.PendingTimedOut)
	}
	return how
}
