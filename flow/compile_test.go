package flow_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
)

// mute is a language that says nothing.
type mute struct{}

func (mute) Grow(*grow.Ask) grow.Growth             { return grow.Growth{} }
func (mute) Undo(*grow.UndoAsk) (atom.Value, error) { return atom.Null, nil }

// TestPlan shows the plan of a nested flow: nodes in the order of the walk, each
// atom with the retry around it.
func TestPlan(t *testing.T) {
	t.Parallel()
	plan := compile(t, flow.Linear("f", task("a"), flow.Unordered("g", task("b"), task("c")).WithRetry(retrying("n")),
		task("d")))
	type node struct {
		Kind       flow.NodeKind
		Flow, Atom string
	}
	var got []node
	for i, n := range plan.Nodes {
		name := ""
		if n.Atom >= 0 {
			name = plan.Atoms[n.Atom].Name()
		}
		got = append(got, node{n.Kind, plan.FlowOf(int32(i)), name})
	}
	want := []node{
		{flow.Entrance, "f", ""},
		{flow.AtomNode, "f", "a"},
		{flow.Entrance, "g", ""},
		{flow.AtomNode, "g", "g_retry"},
		{flow.AtomNode, "g", "b"},
		{flow.AtomNode, "g", "c"},
		{flow.Exit, "g", ""},
		{flow.AtomNode, "f", "d"},
		{flow.Exit, "f", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, retry := range map[string]int32{"a": -1, "g_retry": -1, "b": 1, "c": 1, "d": -1} {
		if got := plan.Atoms[plan.Index(name)].Retry; got != retry {
			t.Errorf("the retry around %s is atom %d, want %d", name, got, retry)
		}
	}
	if plan.Flow != "f" || plan.Index("nobody") != -1 {
		t.Errorf("flow %q, nobody is %d", plan.Flow, plan.Index("nobody"))
	}
}

// TestGrowing shows that a growing flow is an atom with a language.
func TestGrowing(t *testing.T) {
	t.Parallel()
	f := flow.Growing("grows", mute{})
	plan := compile(t, f)
	if len(plan.Atoms) != 1 || plan.Atoms[0].Language != f.Language() || f.Name() != "grows" || !plan.Atoms[0].Reverts() {
		t.Errorf("compiled to %+v", plan.Atoms)
	}
}

// TestInputs checks which inputs a plan needs, and its warnings.
func TestInputs(t *testing.T) {
	t.Parallel()
	plan, err := flow.Compile(flow.Linear("f", gives("a", "x", "in"), gives("b", "", "x", "in"),
		task("c", atom.Optional("may"), atom.Requires("in"))),
		map[string]reflect.Type{"in": reflect.TypeFor[int](), "x": nil, "may": nil})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]flow.Input{{Symbol: "in", For: "a"}, {Symbol: "x", For: "b"}, {Symbol: "may", For: "c", Optional: true}},
		plan.Inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	want := []string{`the input "x" hides what atom "a" provides under that name; rename one of them`}
	if diff := cmp.Diff(want, plan.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestHash shows what changes a flow's structure and what does not.
func TestHash(t *testing.T) {
	t.Parallel()
	base := func() *flow.LinearFlow { return flow.Linear("f", gives("a", "x"), gives("b", "", "x"), task("c")) }
	same := compile(t, base()).Hash
	if again := compile(t, base()).Hash; again != same {
		t.Errorf("%s, and %s the second time", same, again)
	}
	seen := map[string]string{same: "the flow itself"}
	for name, root := range map[string]flow.Node{
		"another name":     flow.Linear("f", gives("a", "x"), gives("b", "", "x"), task("d")),
		"another order":    flow.Linear("f", task("c"), gives("a", "x"), gives("b", "", "x")),
		"another pattern":  flow.Graph("f", gives("a", "x"), gives("b", "", "x"), task("c")),
		"one less":         flow.Linear("f", gives("a", "x"), gives("b", "", "x")),
		"a retry":          flow.Linear("f", gives("a", "x"), gives("b", "", "x"), task("c")).WithRetry(retrying("n")),
		"requires more":    flow.Linear("f", gives("a", "x"), gives("b", "", "x"), gives("c", "", "x")),
		"provides more":    flow.Linear("f", gives("a", "x"), gives("b", "y", "x"), task("c")),
		"another version":  flow.Linear("f", gives("a", "x"), gives("b", "", "x"), task("c", atom.Version("2"))),
		"grouped":          flow.Linear("f", flow.Linear("g", gives("a", "x"), gives("b", "", "x")), task("c")),
		"another argument": flow.Linear("f", gives("a", "x"), task("b", atom.Rebind("y", "x")), task("c")),
	} {
		hash := compile(t, root).Hash
		if other, taken := seen[hash]; taken {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[hash] = name
	}
	if hash := compile(t, base().WithDeadline(time.Hour).WithFailurePolicy(flow.LeaveFailed)).Hash; hash != same {
		t.Error("a deadline or a failure policy changes the structure")
	}
	if hash := compile(t, flow.Linear("f", gives("a", "x"), gives("b", "", "x"),
		task("c", atom.Priority(3)))).Hash; hash != same {
		t.Error("a priority changes the structure")
	}
}

// TestRetryName shows how a flow's retry is called, and that a task is none.
func TestRetryName(t *testing.T) {
	t.Parallel()
	named := atom.Retry("mine", atom.AlwaysRevert().Controller())
	if got := names(compile(t, flow.Linear("f").WithRetry(named))); got[0] != "mine" {
		t.Errorf("called %q", got[0])
	}
	defer func() {
		if recover() == nil {
			t.Error("a task was taken for a retry")
		}
	}()
	flow.Linear("f").WithRetry(task("a"))
}

// TestWords shows how kinds are called where people and stores read them.
func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[fmt.Stringer]string{
		flow.DepthAll: "ALL", flow.DepthNeighbors: "NEIGHBORS", grow.Begin: "begin", grow.JoinFailed: "join failed",
		grow.Stopped: "stopped", grow.Work: "work", grow.Timer: "timer", grow.Fork: "fork",
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// BenchmarkCompile compiles chains in which each task requires the result of the one before.
func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		nodes := make([]flow.Node, n)
		for i := range nodes {
			requires := []string{}
			if i > 0 {
				requires = append(requires, fmt.Sprintf("s%d", i-1))
			}
			nodes[i] = gives(fmt.Sprintf("t%d", i), fmt.Sprintf("s%d", i), requires...)
		}
		root := flow.Linear("f", nodes...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := flow.Compile(root, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
	}
}
