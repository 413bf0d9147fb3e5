package scheduler_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// tasks returns as many tasks that do nothing.
func tasks(n int) []flow.Node {
	do := func(context.Context, atom.Values) (any, error) { return nil, nil }                             //nolint:nilnil // nothing
	undo := func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) { return nil, nil } //nolint:nilnil // nothing
	nodes := make([]flow.Node, n)
	for i := range nodes {
		nodes[i] = atom.Untyped(fmt.Sprintf("t%06d", i), do, undo)
	}
	return nodes
}

func compile(tb testing.TB, root flow.Node) *flow.Plan {
	tb.Helper()
	plan, err := flow.Compile(root, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// spin runs a plan in which atoms fail as fails says, and does nothing but
// count the commands. It keeps records as a store would, by copying.
func spin(plan *flow.Plan, fails func(a int32) bool) (end states.Flow, commands int) {
	s := scheduler.New(plan, nil, nil)
	kept := make([]scheduler.Record, len(plan.Atoms))
	failure := &atom.Failure{Atom: "t", Code: "Boom"}
	type call struct {
		atom   int32
		revert bool
	}
	var ended []call
	ev := scheduler.Event{Kind: scheduler.Begin}
	for at := 0; ; {
		cmds := s.Step(ev)
		commands += len(cmds)
		ev = scheduler.Event{Kind: scheduler.Idle}
		for i := range cmds {
			switch c := &cmds[i]; c.Op {
			case scheduler.Write, scheduler.Notify:
				kept[c.Unit.Index] = c.Rec
			case scheduler.Execute, scheduler.Revert:
				ended = append(ended, call{c.Unit.Index, c.Op == scheduler.Revert})
			case scheduler.AskRetry:
				d, _ := c.Unit.Planned.Controller().OnFailure(c.Tries, c.Values)
				ev = scheduler.Event{Kind: scheduler.Answered, Decision: d}
			case scheduler.More:
				ev = scheduler.Event{Kind: scheduler.Continue}
			case scheduler.Over:
				return c.FlowTo, commands
			default: // flow states, the remembered ones
			}
		}
		if ev.Kind == scheduler.Idle && at < len(ended) {
			ev = scheduler.Event{Kind: scheduler.Completed, Unit: s.Unit(ended[at].atom), Revert: ended[at].revert, Result: atom.Null}
			if !ev.Revert && fails(ev.Unit.Index) {
				ev.Result, ev.Failure = nil, failure
			}
			at++
		}
		if at == len(ended) {
			ended, at = ended[:0], 0
		}
	}
}

func never(int32) bool { return false }

// TestRetryBeforeLongTail: retrying a part costs nothing for later parts that never started.
func TestRetryBeforeLongTail(t *testing.T) {
	t.Parallel()
	count := func(tail int) int {
		all := tasks(10 + tail)
		plan := compile(t, flow.Linear("all", append(
			[]flow.Node{flow.Linear("tried", all[:10]...).WithRetry(atom.Times(100, atom.Backoff{}))}, all[10:]...)...))
		end, commands := spin(plan, func(a int32) bool { return plan.Atoms[a].Name() == "t000009" })
		if end != states.FlowReverted {
			t.Errorf("ended %v", end)
		}
		return commands
	}
	if short, long := count(1), count(5000); long != short {
		t.Errorf("%d commands with a tail of 5,000 tasks, %d with one task", long, short)
	}
}

// TestCommandsPerTask counts the commands of a task: to start, execute and end it.
func TestCommandsPerTask(t *testing.T) {
	t.Parallel()
	const n = 1000
	for name, root := range map[string]flow.Node{"linear": flow.Linear("all", tasks(n)...), "unordered": flow.Unordered("all", tasks(n)...)} {
		end, commands := spin(compile(t, root), never)
		if end != states.FlowSuccess || commands > 3*n+n/32 {
			t.Errorf("%s: ended %v after %d commands; want SUCCESS after about %d", name, end, commands, 3*n)
		}
	}
}

func benchmarkSpin(b *testing.B, root flow.Node, fails func(a int32) bool, end states.Flow) {
	b.Helper()
	plan := compile(b, root)
	b.ReportAllocs()
	for b.Loop() {
		if got, _ := spin(plan, fails); got != end {
			b.Fatalf("ended %v, want %v", got, end)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(plan.Atoms)), "ns/task")
}

// benchmarkTasks is how many tasks the benchmarks decide about.
const benchmarkTasks = 200_000

func BenchmarkLinear(b *testing.B) {
	benchmarkSpin(b, flow.Linear("all", tasks(benchmarkTasks)...), never, states.FlowSuccess)
}

func BenchmarkUnordered(b *testing.B) {
	benchmarkSpin(b, flow.Unordered("all", tasks(benchmarkTasks)...), never, states.FlowSuccess)
}

func BenchmarkLinearReverted(b *testing.B) {
	benchmarkSpin(b, flow.Linear("all", tasks(benchmarkTasks)...),
		func(a int32) bool { return a == benchmarkTasks-1 }, states.FlowReverted)
}
