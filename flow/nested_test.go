package flow_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

type box struct {
	Label string   `json:"label"`
	Parts []string `json:"parts"`
}

var (
	boxesKey = atom.NewKey[[]box]("boxes")
	textsKey = atom.NewKey[[]string]("texts")
)

// does returns a task that takes an In.
func does[In any](name string, opts ...atom.Option) *atom.Atom {
	return atom.Func(name, func(context.Context, In) (box, error) { return box{}, nil }, opts...)
}

type labelOf struct {
	Label string `json:"label"`
	Order string `json:"order"`
	Extra *int   `json:"extra"`
}

// TestEachRequires shows what an Each requires from the flow around it: the list, and what its body requires and the
// items do not have.
func TestEachRequires(t *testing.T) {
	t.Parallel()
	type whole struct {
		Item  box    `json:"item"`
		Order string `json:"order"`
	}
	for name, c := range map[string]struct {
		each *flow.EachFlow
		want string
	}{
		"an atom": {flow.Each("each", boxesKey, does[labelOf]("b")), "order extra? boxes"},
		"a flow":  {flow.Each("each", boxesKey, flow.Linear("f", does[labelOf]("b"))), "order extra? boxes"},
		"what the body provides later": {
			flow.Each("each", boxesKey, flow.Linear("f", does[labelOf]("b"), atom.Func("c", func(context.Context, struct{}) (int, error) { return 1, nil }, atom.As("extra")))),
			"order boxes",
		},
		"the whole item":       {flow.Each("each", boxesKey, does[whole]("b")), "order boxes"},
		"an item of no fields": {flow.Each("each", textsKey, does[string]("b")), "texts"},
		"an item by name":      {flow.Each("each", textsKey, does[string]("b", atom.From("item"))), "texts"},
		"from around":          {flow.Each("each", textsKey, does[string]("b", atom.From("order"))), "order texts"},
		"unknown members":      {flow.Each("each", atom.NewKey[[]map[string]any]("maps"), does[labelOf]("b")), "maps"},
		"an Each in an Each":   {flow.Each("each", boxesKey, flow.Each("in", atom.NewKey[[]string]("parts"), does[labelOf]("b"))), "order extra? boxes"},
		"a machine":            {flow.Each("each", boxesKey, flow.Growing("m", mute{})), "boxes"},
	} {
		plan, err := flow.CompileOpen(c.each, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, arg := range plan.Atoms[0].Args() {
			got = append(got, arg.Symbol)
			if arg.Optional {
				got[len(got)-1] += "?"
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: requires %q, want %q", name, text, c.want)
		}
	}
}

// TestEachProvides shows which type the results have, and under which name.
func TestEachProvides(t *testing.T) {
	t.Parallel()
	plan, err := flow.CompileOpen(flow.Linear("f", flow.Each("packed", boxesKey, does[box]("b"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []atom.Provide{{Symbol: "packed", Type: reflect.TypeFor[[]box]()}}
	if got := plan.Atoms[0].Provides(); !slices.Equal(got, want) {
		t.Errorf("provides %v", got)
	}
	if got := flow.Each("e", boxesKey, does[box]("b")).As("all"); got.Name() != "e" {
		t.Errorf("the name is %q", got.Name())
	}
	takes := atom.Func("takes", func(context.Context, struct {
		Packed string `json:"packed"`
	},
	) (struct{}, error) {
		return struct{}{}, nil
	})
	_, err = flow.CompileOpen(flow.Linear("f", flow.Each("packed", boxesKey, does[box]("b")), takes), nil)
	if !errors.Is(err, flow.ErrType) {
		t.Errorf("a list was taken as a string: %v", err)
	}
}

// TestNestedProblems checks the problems of nodes that start runs.
func TestNestedProblems(t *testing.T) {
	t.Parallel()
	type in struct {
		Order string `json:"order"`
	}
	type out struct {
		Label string `json:"label"`
	}
	type missing struct {
		Lable string `json:"lable"`
	}
	ship := func() *flow.LinearFlow { return flow.Linear("ship", does[in]("print")) }
	circle := flow.Linear("circle")
	circle.Add(flow.Run[struct{}, struct{}]("again", circle))
	for name, c := range map[string]struct {
		node flow.Node
		kind error
		text string
	}{
		"an input that In lacks": {flow.Run[struct{}, out]("s", ship()), flow.ErrMissing, `in the flow that node "s" runs: atom "print" requires "order"`},
		"a misspelled output": {
			flow.Run[in, missing]("s", ship()), flow.ErrMissing, `node "s" takes "lable" from the run of flow "ship", which does not provide it (did you mean "label"?)`,
		},
		"another type of output": {flow.Run[in, struct {
			Label int `json:"label"`
		}]("s", ship()), flow.ErrType, `takes "label" as int`},
		"an output that is no struct": {flow.Run[in, string]("s", ship()), flow.ErrType, `use a struct with a field for each symbol`},
		"detached with a result":      {flow.Run[in, out]("s", ship()).Detached(), flow.ErrType, `its Out must be string, not flow_test.out`},
		"no flow":                     {flow.Run[in, out]("s", nil), flow.ErrInvalid, `node "s" has no flow to run`},
		"itself":                      {circle, flow.ErrCycle, `node "again" runs flow "circle", which is around it`},
		"a time limit":                {flow.Run[in, out]("s", ship(), atom.Timeout(time.Second)), flow.ErrInvalid, `atom.Timeout would have no effect`},
		"in two places": {
			flow.Linear("f", ship(), flow.Linear("g", flow.Run[in, out]("print", ship()))), flow.ErrDuplicate,
			`two atoms are called "print"`,
		},
		"a mistake in the child": {
			flow.Run[in, out]("s", flow.Linear("x", does[in]("a"), does[in]("a"))), flow.ErrDuplicate,
			`in the flow that node "s" runs: two atoms are called "a"`,
		},
		"no body":         {flow.Each("e", boxesKey, nil), flow.ErrInvalid, `node "e" has no body`},
		"no parallelism":  {flow.Each("e", boxesKey, does[box]("b")).WithParallelism(0), flow.ErrInvalid, `a parallelism of 0`},
		"no tolerance":    {flow.Each("e", boxesKey, does[box]("b")).Tolerate(-1), flow.ErrInvalid, `tolerates -1 failures`},
		"a retry as body": {flow.Each("e", boxesKey, atom.Retry("r", nil)), flow.ErrInvalid, `is the retry "r"`},
		"a member's type": {flow.Each("e", boxesKey, does[struct {
			Label int `json:"label"`
		}]("b")), flow.ErrType, `requires "label" as int, but the items of "boxes" are flow_test.box`},
		"the item's type": {flow.Each("e", textsKey, does[int]("b")), flow.ErrType, `requires int, but the items of "texts" are string`},
		"in a flow's body": {flow.Each("e", boxesKey, flow.Linear("f", does[struct {
			Label int `json:"label"`
		}]("b"))), flow.ErrType, `the input has it as string`},
	} {
		_, err := flow.CompileOpen(c.node, map[string]reflect.Type{"order": reflect.TypeFor[string]()})
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v; want %q", name, err, c.text)
		}
	}
}

// TestNestedHash shows that a change within a run that an atom begins is a change of the flow.
func TestNestedHash(t *testing.T) {
	t.Parallel()
	type in struct {
		Order string `json:"order"`
	}
	hash := func(nodes ...flow.Node) string {
		plan, err := flow.CompileOpen(flow.Linear("f", nodes...), nil)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Hash
	}
	run := func(atoms ...flow.Node) flow.Node { return flow.Run[in, struct{}]("r", flow.Linear("child", atoms...)) }
	seen := map[string]string{}
	for name, node := range map[string]flow.Node{
		"a run":                  run(does[in]("a")),
		"one more in it":         run(does[in]("a"), task("b")),
		"an each":                flow.Each("r", boxesKey, does[box]("a")),
		"another body's version": flow.Each("r", boxesKey, does[box]("a", atom.Version("2"))),
		"a flow as body":         flow.Each("r", boxesKey, flow.Linear("child", does[box]("a"))),
		"one more in the body":   flow.Each("r", boxesKey, flow.Linear("child", does[box]("a"), does[box]("b"))),
	} {
		h := hash(node)
		if other, taken := seen[h]; taken {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
	if hash(flow.Each("r", boxesKey, does[box]("a"))) != hash(flow.Each("r", boxesKey, does[box]("a")).WithParallelism(2).Tolerate(1)) {
		t.Error("the parallelism or the tolerance changes the structure")
	}
}

// TestChildren lists the plans of all runs that runs of a flow lead to, each once.
func TestChildren(t *testing.T) {
	t.Parallel()
	inner := flow.Linear("inner", does[box]("a"))
	plan, err := flow.Compile(flow.Linear("f", flow.Each("one", boxesKey, inner), flow.Each("two", boxesKey, inner),
		flow.Run[box, box]("three", flow.Linear("outer", flow.Run[box, box]("four", inner)))),
		map[string]reflect.Type{"boxes": nil, "label": nil, "parts": nil})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range plan.Children {
		got = append(got, p.Flow)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"f/one", "f/two", "inner", "outer"}, got); diff != "" {
		t.Error(diff)
	}
}
