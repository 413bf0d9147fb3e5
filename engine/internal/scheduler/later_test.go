package scheduler_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
)

// waiters is a language whose flow waits for many timers at once.
type waiters struct{ answers }

func (waiters) Grow(ask *grow.Ask) (g grow.Growth) {
	for i := range 10_000 {
		g.Add = append(g.Add, grow.Spec{Name: strconv.Itoa(i), Kind: grow.Timer, Due: ask.Now.Add(time.Hour)})
	}
	return g
}

// caller is a language whose flow makes one call that another party ends. It is told of the call, and of the end.
type caller struct{ answers }

func (caller) Grow(ask *grow.Ask) (g grow.Growth) {
	switch ask.Cause.Kind {
	case grow.Begin:
		g.Add = []grow.Spec{{Name: "call", Task: "call", Report: true, Token: "token"}}
	case grow.Ended:
		g.End = &grow.End{}
	default:
	}
	return g
}

// TestLateReport lets another party end a node before its language has answered what the node's call returned. The
// answer does not take the node's result away.
func TestLateReport(t *testing.T) {
	g := newGardener(t, toyFlow{})
	g.lang = caller{}
	s := scheduler.New(g.plan, nil, g.input)
	var node *scheduler.Unit
	postpone := false
	step := func(ev scheduler.Event) {
		for asked := true; asked; {
			asked = false
			cmds := s.Step(ev)
			for i := range cmds {
				switch c := &cmds[i]; {
				case c.Op == scheduler.AskLanguage && postpone:
					ev, asked = scheduler.Event{Kind: scheduler.Later}, true
				case c.Op == scheduler.AskLanguage:
					growth := g.lang.Grow(&grow.Ask{Now: g.now, Cause: *c.Cause})
					ev, asked = scheduler.Event{Kind: scheduler.Grown, Growth: &growth}, true
				case c.Op == scheduler.Execute:
					node = c.Unit
					node.MarkCalled()
				default:
				}
			}
		}
	}
	step(scheduler.Event{Kind: scheduler.Begin})
	step(scheduler.Event{Kind: scheduler.Idle})
	postpone = true
	step(scheduler.Event{Kind: scheduler.Deferred, Unit: node, Result: atom.MustEncode("sent")})
	step(scheduler.Event{Kind: scheduler.Completed, Unit: node, ByToken: true, Result: atom.MustEncode("paid")})
	postpone = false
	step(scheduler.Event{Kind: scheduler.Idle})
	if got := string(node.Rec.Result.JSON()); got != `"paid"` {
		t.Errorf("the result is %s", got)
	}
}

// TestPostponedCosts lets postponed questions accumulate, as if many timers fired at once. The cost of postponing one
// does not grow with the number of the others.
func TestPostponedCosts(t *testing.T) {
	g := newGardener(t, toyFlow{})
	g.lang = waiters{}
	s := scheduler.New(g.plan, nil, g.input)
	var units []*scheduler.Unit
	for ev := (scheduler.Event{Kind: scheduler.Begin}); ; {
		cmds := s.Step(ev)
		ev = scheduler.Event{Kind: scheduler.Idle}
		for i := range cmds {
			switch c := &cmds[i]; c.Op {
			case scheduler.AskLanguage:
				growth := g.lang.Grow(&grow.Ask{Now: g.now})
				ev = scheduler.Event{Kind: scheduler.Grown, Growth: &growth}
			case scheduler.Wait:
				units = append(units, c.Unit)
			default:
			}
		}
		if len(units) > 0 {
			break
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, u := range units {
		for ev := (scheduler.Event{Kind: scheduler.Fired, Unit: u}); ; {
			cmds := s.Step(ev)
			if len(cmds) == 0 || cmds[len(cmds)-1].Op != scheduler.AskLanguage {
				break
			}
			ev = scheduler.Event{Kind: scheduler.Later}
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(len(units)); each > 16<<10 {
		t.Errorf("%d B are allocated for each of %d questions", each, len(units))
	}
}
