package states_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/states"
)

// arrow is one transition, by its texts.
type arrow struct{ from, to string }

// TaskFlow's tables, written again by hand: every pair that it allows, and no other. The definitions are compared with
// them, so both share nothing.
var (
	taskflowFlow = []arrow{
		{"PENDING", "RUNNING"},
		{"RUNNING", "SUCCESS"},
		{"RUNNING", "FAILURE"},
		{"RUNNING", "REVERTED"},
		{"RUNNING", "SUSPENDING"},
		{"RUNNING", "RESUMING"},
		{"SUCCESS", "RUNNING"},
		{"SUCCESS", "PENDING"},
		{"FAILURE", "RUNNING"},
		{"REVERTED", "PENDING"},
		{"SUSPENDING", "SUSPENDED"},
		{"SUSPENDING", "SUCCESS"},
		{"SUSPENDING", "FAILURE"},
		{"SUSPENDING", "REVERTED"},
		{"SUSPENDING", "RESUMING"},
		{"SUSPENDED", "RUNNING"},
		{"RESUMING", "SUSPENDED"},
	}
	taskflowFlowIgnored = []arrow{
		{"PENDING", "SUSPENDING"},
		{"PENDING", "SUSPENDED"},
		{"PENDING", "RESUMING"},
		{"FAILURE", "SUSPENDING"},
		{"FAILURE", "SUSPENDED"},
		{"FAILURE", "RESUMING"},
		{"SUCCESS", "SUSPENDING"},
		{"SUCCESS", "SUSPENDED"},
		{"SUCCESS", "RESUMING"},
		{"SUSPENDED", "SUSPENDING"},
		{"SUSPENDED", "RESUMING"},
		{"REVERTED", "SUSPENDING"},
		{"REVERTED", "SUSPENDED"},
		{"REVERTED", "RESUMING"},
	}
	taskflowTask = []arrow{
		{"PENDING", "RUNNING"},
		{"PENDING", "IGNORE"},
		{"RUNNING", "SUCCESS"},
		{"RUNNING", "FAILURE"},
		{"FAILURE", "REVERTING"},
		{"SUCCESS", "REVERTING"},
		{"REVERTING", "REVERTED"},
		{"REVERTING", "REVERT_FAILURE"},
		{"REVERTED", "PENDING"},
		{"IGNORE", "PENDING"},
	}
	taskflowRetry = append(slices.Clip(taskflowTask),
		arrow{"SUCCESS", "RETRYING"},
		arrow{"RETRYING", "RUNNING"},
	)
	taskflowJob = []arrow{
		{"UNCLAIMED", "CLAIMED"},
		{"CLAIMED", "UNCLAIMED"},
		{"CLAIMED", "COMPLETE"},
	}
	taskflowEngine = []arrow{
		{"UNDEFINED", "RESUMING"},
		{"RESUMING", "SCHEDULING"},
		{"SCHEDULING", "WAITING"},
		{"WAITING", "ANALYZING"},
		{"ANALYZING", "SCHEDULING"},
		{"ANALYZING", "WAITING"},
		{"ANALYZING", "GAME_OVER"},
		{"GAME_OVER", "SUCCESS"},
		{"GAME_OVER", "REVERTED"},
		{"GAME_OVER", "SUSPENDED"},
		{"GAME_OVER", "FAILURE"},
	}
)

// TaskFlow's reset: it writes PENDING over every state of an atom, and takes a flow back from SUCCESS and REVERTED.
var (
	taskflowFlowReset = toPending("PENDING", "SUCCESS", "REVERTED")
	taskflowTaskReset = toPending("PENDING", "RUNNING", "SUCCESS", "FAILURE", "REVERTING", "REVERTED", "REVERT_FAILURE",
		"IGNORE")
	taskflowRetryReset = append(slices.Clip(taskflowTaskReset), toPending("RETRYING")...)
)

func toPending(from ...string) []arrow {
	var arrows []arrow
	for _, state := range from {
		arrows = append(arrows, arrow{state, "PENDING"})
	}
	return arrows
}

// Guarantee (G3): The state tables hold TaskFlow's pairs and the listed pairs of Ebb only.
// Also: `TestEbbPairs`, `TestMachinesAgreeWithTables`.
func TestTaskFlowTables(t *testing.T) {
	t.Parallel()
	t.Run("flow", func(t *testing.T) {
		t.Parallel()
		testTaskFlowTable[states.Flow](t, taskflowFlow, taskflowFlowReset)
	})
	t.Run("task", func(t *testing.T) {
		t.Parallel()
		testTaskFlowTable[states.Task](t, taskflowTask, taskflowTaskReset)
	})
	t.Run("retry", func(t *testing.T) {
		t.Parallel()
		testTaskFlowTable[states.Retry](t, taskflowRetry, taskflowRetryReset)
	})
	t.Run("job", func(t *testing.T) {
		t.Parallel()
		testTaskFlowTable[states.Job](t, taskflowJob, nil)
	})
	t.Run("engine", func(t *testing.T) {
		t.Parallel()
		testTaskFlowTable[states.Engine](t, taskflowEngine, nil)
	})
}

// testTaskFlowTable checks every pair of states. A pair that TaskFlow allows is legal and marked T. Any other legal
// pair is marked E.
func testTaskFlowTable[S states.Kind](t *testing.T, legal, reset []arrow) {
	marked := make(map[string]states.Class)
	for _, p := range states.Pairs[S]() {
		marked[fmt.Sprint(p.From, p.To, p.Event == states.Reset)] = p.Class
	}
	for _, table := range []struct {
		reset  bool
		arrows []arrow
		check  func(from, to S) error
	}{
		{false, legal, states.Check[S]},
		{true, reset, states.CheckReset[S]},
	} {
		allowed := make(map[arrow]bool)
		for _, a := range table.arrows {
			allowed[a] = true
		}
		met := 0
		for _, from := range states.All[S]() {
			for _, to := range states.All[S]() {
				class, listed := marked[fmt.Sprint(from, to, table.reset)]
				switch inTaskFlow := allowed[arrow{from.String(), to.String()}]; {
				case (table.check(from, to) == nil) != listed:
					t.Errorf("%s to %s (reset %t): check says %v, listed in Pairs: %t",
						from, to, table.reset, table.check(from, to), listed)
				case inTaskFlow && !listed:
					t.Errorf("%s to %s (reset %t) is TaskFlow's but not legal", from, to, table.reset)
				case inTaskFlow && class != states.TaskFlow:
					t.Errorf("%s to %s (reset %t) is TaskFlow's but marked %s", from, to, table.reset, class)
				case !inTaskFlow && listed && class != states.Ebb:
					t.Errorf("%s to %s (reset %t) is not TaskFlow's but marked %s", from, to, table.reset, class)
				case inTaskFlow:
					met++
				}
			}
		}
		if met != len(table.arrows) {
			t.Errorf("met %d of TaskFlow's %d pairs (reset %t)", met, len(table.arrows), table.reset)
		}
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	t.Run("flow", func(t *testing.T) { t.Parallel(); testIgnored[states.Flow](t, taskflowFlowIgnored, true) })
	t.Run("job", func(t *testing.T) { t.Parallel(); testIgnored[states.Job](t, nil, true) })
	t.Run("task", func(t *testing.T) { t.Parallel(); testIgnored[states.Task](t, nil, false) })
	t.Run("retry", func(t *testing.T) { t.Parallel(); testIgnored[states.Retry](t, nil, false) })
	t.Run("engine", func(t *testing.T) { t.Parallel(); testIgnored[states.Engine](t, nil, false) })
}

func testIgnored[S states.Kind](t *testing.T, ignored []arrow, repeats bool) {
	want := make(map[arrow]bool)
	for _, a := range ignored {
		want[a] = true
	}
	for _, from := range states.All[S]() {
		for _, to := range states.All[S]() {
			want := want[arrow{from.String(), to.String()}] || repeats && from == to
			if got := states.Ignored(from, to); got != want {
				t.Errorf("Ignored(%s, %s) = %t", from, to, got)
			}
			if want && states.Check(from, to) == nil {
				t.Errorf("%s to %s is both ignored and legal", from, to)
			}
		}
	}
	if unknown := S(200); states.Ignored(unknown, unknown) {
		t.Errorf("Ignored(%s, %s) = true", unknown, unknown)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	ends := func(list ...string) map[string]bool {
		set := make(map[string]bool)
		for _, s := range list {
			set[s] = true
		}
		return set
	}
	flow, job := ends("SUCCESS", "FAILURE", "REVERTED"), ends("COMPLETE")
	engine, meta := ends("SUCCESS", "FAILURE", "REVERTED", "SUSPENDED"), ends("UNDEFINED", "GAME_OVER")
	for _, s := range states.All[states.Flow]() {
		if s.Ended() != flow[s.String()] {
			t.Errorf("flow %s: Ended() = %t", s, s.Ended())
		}
	}
	for _, s := range states.All[states.Job]() {
		if s.Ended() != job[s.String()] {
			t.Errorf("job %s: Ended() = %t", s, s.Ended())
		}
	}
	for _, s := range states.All[states.Engine]() {
		if s.Ended() != engine[s.String()] || s.Meta() != meta[s.String()] {
			t.Errorf("engine %s: Ended() = %t, Meta() = %t", s, s.Ended(), s.Meta())
		}
	}
}
