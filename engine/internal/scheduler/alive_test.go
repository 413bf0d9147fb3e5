package scheduler_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// exceeded is why a run fails that reaches a limit.
var exceeded = &atom.Failure{Code: "Limit"}

// checkAlive compares the scheduler's counts with the open nodes.
func (g *gardener) checkAlive() {
	alive, values := int64(0), int64(0)
	size := func(vs ...atom.Value) {
		for _, v := range vs {
			values += int64(len(v))
		}
	}
	for n := range g.sched.Open {
		alive++
		size(n.Spec.Input, n.Spec.Note, n.Rec.Result)
		if n.Spec.Group != nil {
			size(n.Spec.Group.Shared)
			size(n.Results()...)
		}
		for _, c := range n.Children() {
			alive++
			size(c.Memory, c.Rec.Result)
		}
	}
	if g.sched.Alive() != alive || g.sched.Held() != values {
		g.tb.Fatalf("%d are alive and hold %d B, and %d of %d B are counted", alive, values, g.sched.Alive(), g.sched.Held())
	}
}

// checkAfter checks what would be alive after an answer that ends nothing, and drops
// nothing.
func (g *gardener) checkAfter(c *scheduler.Command, growth *grow.Growth) {
	alive, held := g.sched.After(c, growth)
	if growth.End == nil && len(growth.Drop) == 0 && (alive < 0 || held < 0) {
		g.tb.Errorf("after %+v %d are alive and hold %d B", growth, alive, held)
	}
}

// TestExceeded lets each question to the language of each program reach a limit, and the process die after each commit.
// The run fails with the limit, and everything is undone.
func TestExceeded(t *testing.T) {
	t.Parallel()
	for _, c := range toyPrograms {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				g := newGardener(t, c.program)
				g.limitAt = at
				g.play()
				if !g.limited {
					return
				}
				g.checkExceeded()
				for crash := 1; ; crash++ {
					g := newGardener(t, c.program)
					g.limitAt, g.crashAt, g.each = at, crash, crash%2 == 0
					g.play()
					if g.pending == scheduler.PendingFailed && g.over != nil {
						g.checkExceeded()
					}
					if !g.crashed {
						break
					}
				}
			}
		})
	}
}

// TestExceededSuspended suspends each program after every commit, and lets it reach a limit anywhere. A run that is
// suspended while it fails continues to fail when it is resumed.
func TestExceededSuspended(t *testing.T) {
	t.Parallel()
	for _, c := range toyPrograms {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for limit := 1; ; limit++ {
				limited := false
				for stop := 1; ; stop++ {
					g := newGardener(t, c.program)
					g.limitAt, g.stopAt = limit, stop
					g.play()
					if limited = limited || g.limited; g.limited {
						g.checkExceeded()
					}
					if g.stopAt > 0 {
						break
					}
				}
				if !limited {
					break
				}
			}
		})
	}
}

// TestExceededRandom lets random programs, which crash and are suspended, reach a
// limit anywhere.
func TestExceededRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		program := anyToy(t, 2)
		program.Deadline = time.Duration(rapid.IntRange(0, 4).Draw(t, "deadline")) * time.Minute
		g := newGardener(t, program)
		g.each = rapid.Bool().Draw(t, "each")
		g.gap = rapid.IntRange(1, 20).Draw(t, "gap")
		g.pick = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		g.crashAt = g.gap
		g.stopAt = rapid.IntRange(0, 40).Draw(t, "stop at")
		g.limitAt = rapid.IntRange(1, 20).Draw(t, "limit at")
		g.defers = anyDeferral(t)
		g.parts = rapid.IntRange(1, 5).Draw(t, "parts")
		g.play()
		if g.over != nil && g.pending == scheduler.PendingFailed {
			g.checkExceeded()
		}
	})
}

func (g *gardener) checkExceeded() {
	g.check()
	fs := g.over.Failures
	if g.over.FlowTo == states.FlowSuccess || g.over.PendingOutcome != scheduler.PendingFailed || len(fs) == 0 || fs[0] != exceeded {
		g.tb.Errorf("ended %v by pending outcome %d with %v", g.over.FlowTo, g.over.PendingOutcome, fs)
	}
	for path := range g.sched.Open {
		g.tb.Errorf("%q is open still", path.Path)
	}
}
