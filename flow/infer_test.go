package flow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// TestOrder checks which node comes directly before which.
func TestOrder(t *testing.T) {
	t.Parallel()
	shared := task("a")
	for _, c := range []struct {
		name string
		root flow.Node
		want []string
	}{
		{"a task alone", task("a"), nil},
		{"linear", flow.Linear("f", task("a"), task("b"), task("c")), []string{"a>b", "b>c"}},
		{"unordered", flow.Unordered("f", task("a"), task("b")), nil},
		{
			"a retry comes before all in its flow", flow.Unordered("f", task("a"), task("b")).WithRetry(retrying("n")),
			[]string{"f_retry>a", "f_retry>b"},
		},
		{
			"flows in a flow", flow.Linear("f", task("a"), flow.Unordered("g", task("b"), task("c")), task("d")),
			[]string{"a>b", "a>c", "b>d", "c>d"},
		},
		{"empty flows are passed through", flow.Linear("f", task("a"), flow.Linear("g"), flow.Unordered("h"),
			flow.Graph("i"), task("b")), []string{"a>b"}},
		{
			"an empty flow with a retry", flow.Linear("f", task("a"), flow.Linear("g").WithRetry(retrying("n")), task("b")),
			[]string{"a>g_retry", "g_retry>b"},
		},
		{"graph: the same node added twice is one", flow.Graph("f", shared).Add(shared, task("b")), nil},

		{"graph: provider first", flow.Graph("f", gives("a", "x"), gives("b", "", "x")), []string{"a>b"}},
		{"graph: consumer first", flow.Graph("f", gives("b", "", "x"), gives("a", "x")), []string{"a>b"}},
		{
			"graph: a diamond", flow.Graph("f", gives("d", "", "y", "z"), gives("b", "y", "x"), gives("c", "z", "x"),
				gives("a", "x")),
			[]string{"a>b", "a>c", "b>d", "c>d"},
		},
		{"graph: a later provider of what is satisfied is no predecessor", flow.Graph("f", gives("a", "x"),
			gives("b", "", "x"), gives("c", "x")), []string{"a>b"}},
		{"graph: what requires and provides the same takes it from another", flow.Graph("f", gives("b", "x", "x"),
			gives("a", "x")), []string{"a>b"}},
		{"graph: the same, provider first", flow.Graph("f", gives("a", "x"), gives("b", "x", "x")), []string{"a>b"}},
		{"graph: two symbols of one provider are one edge", flow.Graph("f", task("a", atom.Provides("x", "y")),
			gives("b", "", "x", "y")), []string{"a>b"}},
		{
			"graph: a flow's outward needs count", flow.Graph("f", flow.Linear("g", gives("b", "y", "x"), gives("c", "", "y")),
				gives("a", "x"), gives("z", "y")),
			[]string{"a>b", "b>c"},
		},
		{
			"graph: siblings of an unordered flow do not satisfy each other",
			flow.Graph("f", flow.Unordered("g", gives("b", "x"), gives("c", "", "x")), gives("a", "x")),
			[]string{"a>b", "a>c"},
		},
		{
			"graph: what a graph's child gets from its ancestor does not count",
			flow.Graph("f", flow.Graph("g", gives("b", "x"), gives("c", "y", "x"), gives("d", "", "x", "y")), gives("a", "x")),
			[]string{"b>c", "b>d", "c>d"},
		},
		{
			"graph: a retry satisfies its flow", flow.Graph("f", flow.Linear("g", gives("b", "", "n")).WithRetry(retrying("n")),
				gives("a", "n")),
			[]string{"g_retry>b"},
		},
		{
			"graph: its own retry satisfies it", flow.Graph("f", gives("a", "n"), gives("b", "", "n")).WithRetry(retrying("n")),
			[]string{"f_retry>a", "f_retry>b"},
		},
		{
			"graph: what a retry requires counts",
			flow.Graph("f", flow.Linear("g", task("b")).WithRetry(atom.ForEachOf("list")), gives("a", "list")),
			[]string{"a>g_retry", "g_retry>b"},
		},
		{"graph: injected symbols do not count", flow.Graph("f", gives("a", "x"), task("b", atom.Requires("x"),
			atom.Inject("x", 1))), nil},
		{"graph: optional arguments do not count", flow.Graph("f", gives("a", "x"), task("b", atom.Optional("x"))), nil},
		{
			"graph: revert's arguments count", flow.Graph("f", gives("a", "x"), task("b", atom.RevertRequires("x"))),
			[]string{"a>b"},
		},
		{"graph: rebound arguments count by their symbol", flow.Graph("f", gives("a", "x"), gives("c", "y"),
			task("b", atom.Rebind("y", "x"))), []string{"a>b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, orders(compile(t, c.root))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
