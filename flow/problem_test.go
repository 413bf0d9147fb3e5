package flow_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

type stranger struct{}

func (stranger) Name() string { return "s" }

type (
	hasPort struct {
		Port int `json:"port"`
	}
	hasPortText struct {
		Port string `json:"port"`
	}
)

// TestProblems shows each mistake that a definition can hold, where it is and
// how it is mended.
func TestProblems(t *testing.T) {
	t.Parallel()
	a, b := task("a"), task("b")
	inner := flow.Linear("g", task("in"))
	for _, c := range []struct {
		name   string
		root   flow.Node
		inputs map[string]reflect.Type
		kind   error
		want   string
	}{
		{"nothing", nil, nil, flow.ErrInvalid, `flow: there is no flow to compile`},
		{"a name twice", flow.Linear("f", task("a"), task("a")), nil, flow.ErrDuplicate, `"a"`},
		{
			"a name twice, deep", flow.Linear("f", task("a"), flow.Unordered("g", flow.Graph("h", task("a")))), nil,
			flow.ErrDuplicate, `"a"`,
		},
		{
			"a retry of an atom's name", flow.Linear("f", task("f_retry")).WithRetry(retrying("n")), nil, flow.ErrDuplicate,
			`"f_retry"`,
		},
		{
			"an atom in two places", flow.Linear("f", a, flow.Linear("g", a)), nil, flow.ErrDuplicate,
			`"a" stands in two places`,
		},
		{
			"a flow in two places", flow.Linear("f", inner, flow.Linear("h", inner)), nil, flow.ErrDuplicate,
			`"g" stands in two places`,
		},
		{"no name", flow.Linear("f", task("")), nil, flow.ErrInvalid, `flow "f" has an atom without a name`},
		{"a foreign node", flow.Linear("f", stranger{}), nil, flow.ErrInvalid, `flow "f" holds a flow_test.stranger`},
		{
			"two providers", flow.Graph("f", gives("p", "x"), gives("q", "x"), gives("r", "", "x")), nil, flow.ErrAmbiguous,
			`"r" in graph "f" requires "x", which "p" and "q" both provide`,
		},
		{
			"a circle of requirements", flow.Graph("f", gives("p", "x", "y"), gives("q", "y", "x")), nil, flow.ErrCycle,
			`graph "f" runs in a circle: "p" needs "q" needs "p"`,
		},
		{"a circle of links", flow.Graph("f", a, b).Link(a, b).Link(b, a), nil, flow.ErrCycle, `runs in a circle`},
		{"a link to itself", flow.Graph("f", a).Link(a, a), nil, flow.ErrCycle, `"a" needs "a"`},
		{
			"a link from a stranger", flow.Graph("f", a).Link(b, a), nil, flow.ErrInvalid,
			`links "b" to "a", but "b" was not added`,
		},
		{
			"a link to a stranger", flow.Graph("f", a).Link(a, b), nil, flow.ErrInvalid,
			`links "a" to "b", but "b" was not added`,
		},
		{"a strange target", flow.Graph("f", a).Target(b), nil, flow.ErrInvalid, `target "b" of graph "f" was not added`},
		{
			"nothing provides", flow.Linear("f", gives("p", "", "x")), nil, flow.ErrMissing,
			`atom "p" requires "x", which nothing before it provides`,
		},
		{
			"nearly provided", flow.Linear("f", gives("p", "volume_id"), gives("q", "", "volumeid")), nil, flow.ErrMissing,
			`atom "q" requires "volumeid", which nothing before it provides (did you mean "volume_id"?)`,
		},
		{
			"nearly an input", flow.Linear("f", gives("q", "", "volumeid")),
			map[string]reflect.Type{"volume_id": nil},
			flow.ErrMissing,
			`(did you mean "volume_id"?)`,
		},
		{
			"provided too late", flow.Linear("f", gives("p", "", "x"), gives("q", "x")), nil, flow.ErrMissing,
			`which atom "q" provides, but not before it; link or reorder them`,
		},
		{
			"provided beside", flow.Unordered("f", gives("q", "x"), gives("p", "", "x")), nil, flow.ErrMissing,
			`which atom "q" provides, but not before it`,
		},
		{
			"nothing provides for revert", flow.Linear("f", task("p", atom.RevertRequires("x"))), nil, flow.ErrMissing,
			`atom "p" requires "x"`,
		},
		{
			"another type", flow.Linear("f",
				atom.Func("p", func(_ context.Context, _ struct{}) (hasPort, error) { return hasPort{}, nil }),
				atom.Func("q", func(_ context.Context, _ hasPortText) (struct{}, error) { return struct{}{}, nil })), nil,
			flow.ErrType,
			`atom "q" requires "port" as string, but atom "p" provides it as int`,
		},
		{
			"another type than the input's", atom.Func("q", func(_ context.Context, _ hasPortText) (struct{}, error) {
				return struct{}{}, nil
			}),
			map[string]reflect.Type{"port": reflect.TypeFor[int]()},
			flow.ErrType, `atom "q" requires "port" as string, but the input has it as int`,
		},
		{
			"a growing flow beside others", flow.Linear("f", flow.Growing("grows", mute{}), task("p")), nil, flow.ErrInvalid,
			`growing flow "grows" stands beside other atoms`,
		},
		{
			"a deadline inside", flow.Linear("f", flow.Graph("g", a).WithDeadline(time.Hour)), nil, flow.ErrInvalid,
			`flow "g" stands inside another flow`,
		},
		{
			"a failure policy inside", flow.Linear("f", flow.Unordered("g", a).WithFailurePolicy(flow.UndoFlow)), nil,
			flow.ErrInvalid,
			`flow "g" stands inside another flow`,
		},
		{
			"no time", flow.Unordered("f", a).WithDeadline(0), nil, flow.ErrInvalid,
			`flow "f" has a deadline of 0s; want more than 0`,
		},
		{
			"an unknown failure policy", flow.Graph("f", a).WithFailurePolicy(9), nil, flow.ErrInvalid,
			`flow "f" has the failure policy 9`,
		},
		{
			"a deadline of a growing flow", flow.Linear("f", flow.Growing("grows", mute{})).WithDeadline(time.Hour), nil,
			flow.ErrInvalid,
			`growing flow "grows" has a deadline or a failure policy`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plan, err := flow.Compile(c.root, c.inputs)
			var problems flow.Problems
			if plan != nil || !errors.As(err, &problems) || len(problems) != 1 {
				t.Fatalf("compiled to %v with %v; want one problem", plan, err)
			}
			if !errors.Is(err, c.kind) {
				t.Errorf("%v is no %v", err, c.kind)
			}
			if !strings.HasPrefix(err.Error(), "flow: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q\nwant %q", err, c.want)
			}
		})
	}
}

// TestAllProblemsAtOnce shows that one compilation finds every mistake.
func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := flow.Compile(flow.Linear("f",
		gives("p", "", "one"),
		gives("q", "", "two", "three"),
		flow.Unordered("g", gives("r", "x"), gives("s", "", "x")),
	), nil)
	var problems flow.Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	type place struct{ Flow, Atom, Symbol string }
	var got []place
	for _, p := range problems {
		got = append(got, place{p.Flow, p.Atom, p.Symbol})
	}
	want := []place{{"f", "p", "one"}, {"f", "q", "two"}, {"f", "q", "three"}, {"g", "s", "x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != len(want) {
		t.Errorf("%d problems in %d lines:\n%v", len(want), lines, err)
	}

	_, err = flow.Compile(flow.Linear("f", task(""), task("a"), task("a"), stranger{}), nil)
	if errors.As(err, &problems); len(problems) != 3 {
		t.Errorf("want three problems, got:\n%v", err)
	}
}

// TestRefusedFlowIsUnchanged shows that a flow that was refused can be mended
// and compiled.
func TestRefusedFlowIsUnchanged(t *testing.T) {
	t.Parallel()
	f := flow.Linear("f", gives("p", "", "x"))
	if _, err := flow.Compile(f, nil); err == nil {
		t.Fatal("nothing provides x")
	}
	if _, err := flow.Compile(f, map[string]reflect.Type{"x": nil}); err != nil {
		t.Error(err)
	}
}

// TestNilNodes: a node that is not there is a mistake with a place, not a panic.
func TestNilNodes(t *testing.T) {
	t.Parallel()
	for _, root := range []flow.Node{
		nil, (*flow.LinearFlow)(nil), flow.Linear("f", nil), flow.Linear("f", (*atom.Atom)(nil)),
		flow.Graph("f", (*flow.GrowingFlow)(nil)), flow.Unordered("f", (*flow.GraphFlow)(nil)),
	} {
		if _, err := flow.Compile(root, nil); !errors.Is(err, flow.ErrInvalid) {
			t.Errorf("%T: %v; want it refused as invalid", root, err)
		}
	}
}
