package flow_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// TestSymbolUses checks each use of a symbol: it must be there, be provided before, and have the right type.
func TestSymbolUses(t *testing.T) {
	t.Parallel()
	type risk struct {
		Risk float64 `json:"risk"`
	}
	check := atom.Func("check", func(context.Context, struct{}) (risk, error) { return risk{}, nil })
	ship := atom.Func("ship", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	decided := func(opt flow.LinkOption) flow.Node { return flow.Graph("g", check, ship).Link(check, ship, opt) }
	late := func() flow.Node {
		g := flow.Graph("g", ship, check)
		return g.Link(ship, check, flow.When(atom.NewKey[float64]("risk"), func(float64) bool { return true }))
	}
	for name, c := range map[string]struct {
		node flow.Node
		kind error
		text string
	}{
		"a decider": {decided(flow.When(atom.NewKey[float64]("risk"), func(float64) bool { return true })), nil, ""},
		"a decider of an input": {
			decided(flow.When(atom.NewKey[string]("customer"), func(string) bool { return true })), nil, "",
		},
		"a decider of nothing": {
			decided(flow.When(atom.NewKey[float64]("rsk"), func(float64) bool { return true })), flow.ErrMissing,
			`the decider of a link to atom "ship" requires "rsk", which nothing before it provides (did you mean "risk"?)`,
		},
		"a decider of another type": {
			decided(flow.When(atom.NewKey[string]("risk"), func(string) bool { return true })), flow.ErrType,
			`the decider of a link to atom "ship" requires "risk" as string, but atom "check" provides it as float64`,
		},
		"a decider of an input of another type": {
			decided(flow.When(atom.NewKey[bool]("customer"), func(bool) bool { return true })), flow.ErrType,
			`but the input has it as string`,
		},
		"a decider before": {late(), flow.ErrMissing, `which atom "check" provides, but not before it; link or reorder them`},
		"a body that mistakes a member": {
			flow.Each("picks", atom.NewKey[[]risk]("risks"),
				atom.Func("pick", func(context.Context, struct{ RISK string }) (struct{}, error) { return struct{}{}, nil })), flow.ErrMissing,
			`the body of node "picks" requires "RISK", which neither the item nor anything before the node provides (did you mean "risk"?)`,
		},
		"values to try that are no list": {
			flow.Linear("f", flow.Linear("g", check)).WithRetry(atom.ForEachOf("customer")), flow.ErrType,
			`requires "customer" as []interface {}, but the input has it as string`,
		},
	} {
		compile := flow.Compile
		if c.kind == nil { // not each uses both inputs
			compile = flow.CompileOpen
		}
		_, err := compile(c.node, map[string]reflect.Type{
			"customer": reflect.TypeFor[string](), "risks": reflect.TypeFor[[]risk](),
		})
		if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v; want %q", name, err, c.text)
		}
	}
	// With open inputs, a value that a decider lacks is an input of each run.
	plan, err := flow.CompileOpen(decided(flow.When(atom.NewKey[float64]("rsk"), func(float64) bool { return true })), nil)
	if err != nil || len(plan.Inputs) != 1 || plan.Inputs[0].Symbol != "rsk" {
		t.Errorf("%v: inputs %v", err, plan)
	}
}

// tree is a type that holds itself.
type tree struct {
	Next *tree
	Kids []tree
	By   map[int]tree
}

func returning[T any]() *atom.Atom {
	return atom.Func("b", func(context.Context, struct{}) (out T, err error) { return out, nil }, atom.As("out"))
}

// TestMistakes reports nodes in two places, names that are missing, and results that are lost.
func TestMistakes(t *testing.T) {
	t.Parallel()
	type hidden struct{ receipt string }
	type made struct {
		ID string `json:"id"`
	}
	a, last := task("a"), task("last")
	charge := func(opts ...atom.Option) *atom.Atom {
		return atom.Func("charge", func(context.Context, struct{}) (string, error) { return "", nil }, opts...)
	}
	undone := atom.Pair("charge", func(context.Context, struct{}) (string, error) { return "", nil },
		func(context.Context, struct{}, atom.Outcome[string]) error { return nil })
	makes := func(name string) *atom.Atom {
		return atom.Func(name, func(context.Context, struct{}) (made, error) { return made{}, nil })
	}
	uses := func(name string) *atom.Atom {
		return atom.Func(name, func(context.Context, made) (struct{}, error) { return struct{}{}, nil })
	}
	for name, c := range map[string]struct {
		node    flow.Node
		kind    error
		text    string
		warning string
	}{
		"the same atom twice":              {flow.Linear("f", a, a), flow.ErrDuplicate, `atom "a" stands in two places`, ""},
		"the same atom twice side by side": {flow.Unordered("f", a, a), flow.ErrDuplicate, `atom "a" stands in two places`, ""},
		"a nil node":                       {flow.Linear("f", nil), flow.ErrInvalid, `flow "f" holds a nil node; leave it out`, ""},
		"a nil atom":                       {flow.Linear("f", (*atom.Atom)(nil)), flow.ErrInvalid, `holds a nil *atom.Atom`, ""},
		"the same atom twice in a graph":   {flow.Graph("f", a, a), nil, "", ""},
		"an atom without a name":           {flow.Linear("f", task("")), flow.ErrInvalid, `flow "f" has an atom without a name`, ""},
		"a flow without a name":            {flow.Linear("f", flow.Linear("", task("b"))), flow.ErrInvalid, "a flow has no name", ""},
		"a run of a flow without a name":   {flow.Linear("", task("b")), flow.ErrInvalid, "a flow has no name", ""},
		"a link without a function": {
			flow.Graph("f", a, last).Link(a, last, flow.When[int](atom.NewKey[int]("n"), nil)), flow.ErrInvalid, `has no function to decide`, "",
		},
		"a result that cannot be stored": {atom.Func("charge", func(context.Context, struct{}) (hidden, error) {
			return hidden{receipt: "r"}, nil
		}), flow.ErrInvalid, `returns a flow_test.hidden, which has no exported fields`, ""},
		"a result without a name":        {charge(), nil, "", `atom "charge" returns a string that no other atom can use; name it with atom.As, or return struct{}`},
		"a result with a name":           {charge(atom.As("receipt")), nil, "", ""},
		"a result for the revert":        {undone, nil, "", ""},
		"an input that nothing requires": {task("b", atom.Requires("customer")), flow.ErrUnused, `no atom requires the input "custmer" (did you mean "customer"?)`, ""},
		"an input far from all":          {task("b", atom.Requires("customer", "orders")), flow.ErrUnused, `no atom requires the input "x" (the atoms require "customer", "orders")`, ""},
		"an input near an optional one":  {task("b", atom.Optional("custme")), flow.ErrUnused, `no atom requires the input "custmer" (did you mean "custme"?)`, ""},
		"a signal without a name": {
			flow.Linear("f", atom.Awaits[string]("approve", "", atom.Deferral{})), flow.ErrInvalid,
			`atom "approve" awaits a signal without a name; give atom.Awaits the name`, "",
		},
		"a negative number of attempts": {task("b", atom.Attempts(-1, atom.Backoff{})), flow.ErrInvalid, `atom "b" has -1 as atom.Attempts; want at least 1`, ""},
		"a negative timeout":            {task("b", atom.Timeout(-1)), flow.ErrInvalid, `atom "b" has -1ns as atom.Timeout; want a positive`, ""},
		"a negative deadline": {
			task("b", atom.Deferrable(atom.Deferral{Deadline: -1})), flow.ErrInvalid, `the Deadline of its atom.Deferral`, "",
		},
		"a value that is lost": {flow.Linear("f", makes("a"), makes("b")), flow.ErrUnused, `atoms "a" and "b" both provide "id"`, ""},
		"a value that is lost deeper": {
			flow.Linear("f", flow.Unordered("g", makes("a")), task("t"), makes("b")), flow.ErrUnused, `atoms "a" and "b" both provide "id"`, "",
		},
		"a value that is used, then another": {flow.Linear("f", makes("a"), uses("t"), makes("b"), uses("u")), nil, "", ""},
		"a value side by side":               {flow.Unordered("f", makes("a"), makes("b")), nil, "", ""},
		"an argument without exported fields": {
			atom.Func("b", func(context.Context, hidden) (struct{}, error) { return struct{}{}, nil }), flow.ErrInvalid,
			`atom "b" takes a flow_test.hidden, which has no exported fields`, "",
		},
		"a revert of nothing": {
			atom.Pair("b", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil },
				func(context.Context, struct{}, atom.Outcome[struct{}]) error { return nil }, atom.NoEffect()),
			flow.ErrInvalid, `atom "b" has atom.NoEffect and a Revert`, "",
		},
		"a channel": {returning[chan int](), flow.ErrInvalid, `atom "b" returns a chan int, which cannot be stored, as JSON cannot encode chan int`, ""},
		"a function in a struct": {
			returning[struct{ F func() }](), flow.ErrInvalid, `JSON cannot encode func() in the field F`, "",
		},
		"a list of channels":         {returning[[]chan int](), flow.ErrInvalid, `cannot encode chan int`, ""},
		"a map with structs as keys": {returning[map[struct{ A int }]int](), flow.ErrInvalid, `a map with keys of type`, ""},
		"what can be encoded": {returning[struct {
			F    func() `json:"-"`
			G    func() `json:"g,omitzero"`
			Next *tree
			Any  any
			At   time.Time
		}](), nil, "", ""},
		"items with a mistake": {
			flow.Each("picks", atom.NewKey[[]string]("customer"), task("b", atom.Timeout(-1))), flow.ErrInvalid,
			`atom "b" has -1ns as atom.Timeout`, "",
		},
	} {
		inputs := map[string]reflect.Type{}
		if strings.HasPrefix(name, "items") {
			inputs["customer"] = nil
		}
		if strings.HasPrefix(name, "an input") {
			inputs = map[string]reflect.Type{"custmer": nil, "customer": nil}
			if strings.HasSuffix(name, "far from all") {
				inputs = map[string]reflect.Type{"x": nil, "customer": nil, "orders": nil}
			}
			if strings.HasSuffix(name, "optional one") {
				delete(inputs, "customer")
			}
		}
		plan, err := flow.Compile(c.node, inputs)
		if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v; want %q", name, err, c.text)
			continue
		}
		if err == nil && (c.warning == "" && len(plan.Warnings) > 0 || c.warning != "" && !slices.Contains(plan.Warnings, c.warning)) {
			t.Errorf("%s: warnings %q; want %q", name, plan.Warnings, c.warning)
		}
	}
}
