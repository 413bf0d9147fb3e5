package flow_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// TestLink checks what links add to the inferred order.
func TestLink(t *testing.T) {
	t.Parallel()
	a, b, c := gives("a", "x"), gives("b", "", "x"), task("c")
	inner := flow.Unordered("g", task("d"), task("e"))
	for _, tc := range []struct {
		name string
		root flow.Node
		want []string
	}{
		{"between strangers", flow.Graph("f", a, c).Link(c, a), []string{"c>a"}},
		{"over an inferred edge", flow.Graph("f", a, b).Link(a, b), []string{"a>b"}},
		{"twice", flow.Graph("f", a, c).Link(a, c).Link(a, c), []string{"a>c"}},
		{"into a flow", flow.Graph("f", a, inner).Link(a, inner), []string{"a>d", "a>e"}},
		{"out of a flow", flow.Graph("f", inner, a).Link(inner, a), []string{"d>a", "e>a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, orders(compile(t, tc.root))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTarget shows that only the target and what it depends on take part.
func TestTarget(t *testing.T) {
	t.Parallel()
	a, b, c, d := gives("a", "x"), gives("b", "y", "x"), gives("c", "z", "y"), task("d")
	graph := func() *flow.GraphFlow { return flow.Graph("f", d, c, b, a).Link(d, c) }
	for _, tc := range []struct {
		name string
		root flow.Node
		want []string
	}{
		{"none", graph(), []string{"d", "c", "b", "a"}},
		{"the first", graph().Target(a), []string{"a"}},
		{"in the middle", graph().Target(b), []string{"b", "a"}},
		{"all by edges and links", graph().Target(c), []string{"d", "c", "b", "a"}},
		{"lifted", graph().Target(a).Target(nil), []string{"d", "c", "b", "a"}},
		{
			"with a retry, which always takes part", graph().Target(a).WithRetry(retrying("n")),
			[]string{"f_retry", "a"},
		},
		{
			"inside a flow: only what takes part requires and provides",
			flow.Graph("o", flow.Graph("f", gives("p", "x"), gives("q", "", "w")).Target(nil), gives("r", "w")),
			[]string{"p", "q", "r"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, names(compile(t, tc.root))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	// What takes no part leaves its names to others.
	free := flow.Graph("f", a, flow.Linear("g", flow.Unordered("h", task("x"))).WithRetry(retrying("n"))).Target(a)
	if got := names(compile(t, flow.Linear("o", free, task("x"), task("g_retry")))); !slices.Equal(got,
		[]string{"a", "x", "g_retry"}) {
		t.Errorf("atoms %v", got)
	}
	p := gives("p", "x")
	outer := flow.Graph("o", flow.Graph("f", p, gives("q", "", "w")).Target(p), gives("r", "w"))
	if got := orders(compile(t, outer)); got != nil {
		t.Errorf("r comes before what takes no part: %v", got)
	}
}

// TestDeciders shows which atoms a link's decider speaks about.
func TestDeciders(t *testing.T) {
	t.Parallel()
	yes := func(flow.Results) bool { return true }
	a, b := gives("a", "x"), gives("b", "", "x")
	two := flow.Unordered("g", task("c"), task("d"))
	deep := flow.Linear("h", flow.Unordered("i", task("e"), flow.Linear("j", task("k"), task("l"))), task("m"))
	guarded := flow.Linear("n", task("o"), task("p")).WithRetry(retrying("s"))
	for _, tc := range []struct {
		name string
		root flow.Node
		want []string // atom: source depth
	}{
		{"at an atom", flow.Graph("f", a, b).Link(a, b, flow.Decide(yes)), []string{"b: a ALL"}},
		{"a link without one", flow.Graph("f", a, b).Link(a, b), nil},
		{"depth", flow.Graph("f", a, b).Link(a, b, flow.Decide(yes), flow.LeaveOut(flow.DepthAtom)), []string{"b: a ATOM"}},
		{
			"a later link adds its decider", flow.Graph("f", a, b).Link(a, b).Link(a, b, flow.Decide(yes)),
			[]string{"b: a ALL"},
		},
		{
			"a later link without one takes none away", flow.Graph("f", a, b).Link(a, b, flow.Decide(yes)).Link(a, b),
			[]string{"b: a ALL"},
		},
		{
			"into a flow: its first atoms", flow.Graph("f", a, two).Link(a, two, flow.Decide(yes)),
			[]string{"c: a ALL", "d: a ALL"},
		},
		{
			"first atoms of flows within", flow.Graph("f", a, deep).Link(a, deep, flow.Decide(yes)),
			[]string{"e: a ALL", "k: a ALL"},
		},
		{
			"into a flow with a retry: the retry", flow.Graph("f", a, guarded).Link(a, guarded, flow.Decide(yes)),
			[]string{"n_retry: a ALL"},
		},
		{"out of a flow: no atom's", flow.Graph("f", two, b, a).Link(two, b, flow.Decide(yes)), []string{"b: - ALL"}},
		{
			"two links", flow.Graph("f", a, b, two).Link(a, b, flow.Decide(yes)).
				Link(two, b, flow.When(atom.NewKey[int]("x"), func(int) bool { return true }), flow.LeaveOut(flow.DepthFlow)),
			[]string{"b: a ALL", "b: - FLOW"},
		},
		{"dropped with its target", flow.Graph("f", a, b).Link(a, b, flow.Decide(yes)).Target(a), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			plan := compile(t, tc.root)
			var got []string
			for i := range plan.Atoms {
				for _, d := range plan.Atoms[i].Deciders {
					source := "-"
					if d.Source >= 0 {
						source = plan.Atoms[d.Source].Name()
					}
					if !slices.Contains(plan.Pred(plan.Atoms[i].Node), d.From) && tc.name == "at an atom" {
						t.Errorf("the link comes from node %d, which is not before %s", d.From, plan.Atoms[i].Name())
					}
					got = append(got, fmt.Sprintf("%s: %s %s", plan.Atoms[i].Name(), source, d.Depth))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDecide checks the arguments of a decider over results.
func TestDecide(t *testing.T) {
	t.Parallel()
	a, b := task("a"), task("b")
	root := flow.Graph("f").Add(a, b).Link(a, b, flow.Decide(func(r flow.Results) bool { return r["a"].String() == "1" }))
	d := compile(t, root).Atoms[1].Deciders[0].Decider
	for value, want := range map[int]bool{1: true, 2: false} {
		if got, err := d.Decide(nil, flow.Results{"a": atom.MustEncode(value)}); got != want || err != nil {
			t.Errorf("%d: %t, %v", value, got, err)
		}
	}
}

// TestWhen checks the arguments of a decider over a key.
func TestWhen(t *testing.T) {
	t.Parallel()
	a, b := gives("a", "n"), task("b")
	root := flow.Graph("f", a, b).Link(a, b, flow.When(atom.NewKey[int]("n"), func(n int) bool { return n > 2 }))
	d := compile(t, root).Atoms[1].Deciders[0].Decider
	if d.Symbol != "n" || d.Label != "when n" {
		t.Errorf("decides by %q, shown as %q", d.Symbol, d.Label)
	}
	for value, want := range map[any]bool{1: false, 3: true} {
		if got, err := d.Decide(atom.MustEncode(value), nil); got != want || err != nil {
			t.Errorf("%v: %t, %v", value, got, err)
		}
	}
	if _, err := d.Decide(atom.MustEncode("three"), nil); err == nil {
		t.Error("a text was taken for a number")
	}
}
