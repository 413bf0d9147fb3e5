package scheduler_test

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// loop is a language that adds one task after the other, as often as it counts.
type loop int

// Grow counts in the memory of the flow.
func (l loop) Grow(ask *grow.Ask) grow.Growth {
	n, _ := strconv.Atoi(ask.Memory.String())
	if n == int(l) {
		return grow.Growth{End: &grow.End{Value: atom.Null}}
	}
	return grow.Growth{
		Memory: atom.FromJSON(strconv.AppendInt(nil, int64(n+1), 10)),
		Add:    []grow.Spec{{Name: "s" + strconv.Itoa(n), Task: "t", Undo: &grow.Undo{Task: "u"}}},
	}
}

// Undo gives an undo nothing.
func (loop) Undo(*grow.UndoAsk) (atom.Value, error) { return atom.Null, nil }

// spinLoop runs a growing flow and keeps nothing of it.
func spinLoop(tb testing.TB, l loop, each func(n int)) {
	tb.Helper()
	s := scheduler.New(compile(tb, flow.Growing("loop", l)), nil, nil)
	ev, n := scheduler.Event{Kind: scheduler.Begin}, 0
	for {
		cmds := s.Step(ev)
		ev = scheduler.Event{Kind: scheduler.Idle}
		for i := range cmds {
			switch c := &cmds[i]; c.Op {
			case scheduler.AskLanguage:
				growth := l.Grow(&grow.Ask{Index: -1, Memory: c.Scope.Memory, Cause: *c.Cause})
				ev = scheduler.Event{Kind: scheduler.Grown, Growth: &growth}
			case scheduler.Execute:
				ev = scheduler.Event{Kind: scheduler.Completed, Unit: c.Unit, Result: atom.Null}
				n++
				each(n)
			case scheduler.Over:
				if c.FlowTo != states.FlowSuccess || n != int(l) || s.Undos() != int64(l) {
					tb.Fatalf("ended %v after %d steps with %d to undo", c.FlowTo, n, s.Undos())
				}
				return
			default: // the stored records
			}
		}
	}
}

// TestLoopStaysSmall shows that a run that grows for long needs no more memory
// late than early, although all of it can be undone.
func TestLoopStaysSmall(t *testing.T) {
	const steps = 200_000
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var early, late int64
	spinLoop(t, steps, func(n int) {
		switch n {
		case steps / 10:
			early = heap()
		case steps:
			late = heap()
		}
	})
	if more := late - early; more > 1<<20 {
		t.Errorf("%d bytes more after %d steps than after %d", more, steps, steps/10)
	}
}

// BenchmarkLoop grows a chain of tasks.
func BenchmarkLoop(b *testing.B) {
	b.ReportAllocs()
	const steps = 100_000
	for b.Loop() {
		spinLoop(b, steps, func(int) {})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
}
