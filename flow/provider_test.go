package flow_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// visible returns the atoms whose value of a symbol another atom sees.
func visible(plan *flow.Plan, of, symbol string) []string {
	var out []string
	plan.Providers(plan.Index(of), symbol, func(from int32, part atom.Provide) bool {
		if part.Symbol != symbol {
			panic("another symbol")
		}
		out = append(out, plan.Atoms[from].Name())
		return true
	})
	return out
}

// TestProviders shows whose values an atom sees, nearest first. Each flow has an
// atom "me" that asks for "x".
func TestProviders(t *testing.T) {
	t.Parallel()
	me := func() *atom.Atom { return task("me", atom.Optional("x")) }
	x := func(name string) *atom.Atom { return gives(name, "x") }
	p, q, last := x("p"), x("q"), me()
	for _, c := range []struct {
		name string
		root flow.Node
		want []string
	}{
		{"linear: all before, nearest first", flow.Linear("f", x("a"), x("b"), me(), x("c")), []string{"b", "a"}},
		{"not itself", flow.Linear("f", x("a"), task("me", atom.Optional("x"), atom.Provides("x"))), []string{"a"}},
		{"unordered: none beside", flow.Unordered("f", x("a"), me(), x("b")), nil},
		{
			"unordered: those before the flow", flow.Linear("f", x("a"), flow.Unordered("g", x("b"), me(), x("c"))),
			[]string{"a"},
		},
		{
			"into flows before", flow.Linear("f", flow.Unordered("g", x("a"), flow.Linear("h", x("b"))), x("c"), me()),
			[]string{"c", "b", "a"},
		},
		{
			"out of nested flows", flow.Linear("f", x("a"), flow.Linear("g", x("b"), flow.Linear("h", me(), x("c")), x("d"))),
			[]string{"b", "a"},
		},
		{"a flow's retry, from within", flow.Unordered("f", x("a"), me()).WithRetry(retrying("x")), []string{"f_retry"}},
		{
			"a flow's retry, from behind", flow.Linear("f", flow.Linear("g", x("a")).WithRetry(retrying("x")), me()),
			[]string{"a", "g_retry"},
		},
		{"a flow's retry, from a sibling", flow.Unordered("f", flow.Linear("g", x("a")).WithRetry(retrying("x")), me()), nil},
		{"graph: what it does not depend on", flow.Graph("f", x("a"), me()), nil},
		{
			"graph: what it depends on, directly or not", flow.Graph("f", last, q, p).Link(p, q).Link(q, last),
			[]string{"p", "q"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, visible(compile(t, c.root), "me", "x")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// anyFlow draws a flow of tasks that all provide "x" and see it if they can.
func anyFlow(t *rapid.T, n *int, depth int) flow.Node {
	name := func(message string) string { *n++; return fmt.Sprintf("%s%d", message, *n) }
	var children []flow.Node
	for range rapid.IntRange(0, 5).Draw(t, "children") {
		if depth > 0 && rapid.Bool().Draw(t, "deeper") {
			children = append(children, anyFlow(t, n, depth-1))
		} else {
			children = append(children, task(name("t"), atom.Optional("x"), atom.Provides("x")))
		}
	}
	hasRetry := rapid.Bool().Draw(t, "retry")
	switch rapid.IntRange(0, 2).Draw(t, "pattern") {
	case 0:
		f := flow.Linear(name("f"), children...)
		if hasRetry {
			f.WithRetry(retrying("x"))
		}
		return f
	case 1:
		f := flow.Unordered(name("f"), children...)
		if hasRetry {
			f.WithRetry(retrying("x"))
		}
		return f
	default:
		f := flow.Graph(name("f"), children...)
		if hasRetry {
			f.WithRetry(retrying("x"))
		}
		at := rapid.Permutation(indices(len(children))).Draw(t, "order")
		for to := range children {
			for from := range to {
				if rapid.IntRange(0, 2).Draw(t, "linked") == 0 {
					f.Link(children[at[from]], children[at[to]])
				}
			}
		}
		return f
	}
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestProvidersAreReached shows that an atom sees exactly the atoms from which
// it is reached, the later in the walk the nearer.
func TestProvidersAreReached(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		plan, err := flow.Compile(anyFlow(t, new(int), 3), nil)
		if err != nil {
			t.Fatal(err)
		}
		for of := range plan.Atoms {
			before := map[int32]bool{}
			for work := []int32{plan.Atoms[of].Node}; len(work) > 0; work = work[1:] {
				for _, p := range plan.Pred(work[0]) {
					if !before[p] {
						before[p] = true
						work = append(work, p)
					}
				}
			}
			var want, got []int32
			for i := range plan.Atoms {
				if before[plan.Atoms[i].Node] {
					want = append(want, int32(i))
				}
			}
			slices.Reverse(want)
			plan.Providers(int32(of), "x", func(from int32, _ atom.Provide) bool {
				got = append(got, from)
				return true
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s sees (-want +got):\n%s", plan.Atoms[of].Name(), diff)
			}
		}
	})
}

// TestAllProviders yields every provider of a symbol, and the caller may stop.
func TestAllProviders(t *testing.T) {
	t.Parallel()
	plan := compile(t, flow.Unordered("f", gives("a", "x"), gives("b", "y"), task("c", atom.ProvidesElements("x", "z"))))
	var got []string
	plan.AllProviders("x", func(from int32, part atom.Provide) bool {
		got = append(got, plan.Atoms[from].Name(), part.Symbol)
		return true
	})
	if diff := cmp.Diff([]string{"a", "x", "c", "x"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	n := 0
	plan.AllProviders("x", func(int32, atom.Provide) bool { n++; return false })
	plan.Symbols(func(string) bool { n++; return false })
	if n != 2 {
		t.Errorf("went on after it was stopped: %d", n)
	}
	if got := slices.Sorted(plan.Symbols); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Errorf("symbols %v", got)
	}
}
