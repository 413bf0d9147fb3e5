package asl

import (
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A rule is one entry of a Choice state's Choices.
type rule struct {
	test test
	out  transition
}

// A test is a compiled condition.
type test interface {
	holds(v *view) (bool, *stateError)
}

type (
	allOf []test // And
	anyOf []test // Or
	not   struct{ test }
)

func (t allOf) holds(v *view) (bool, *stateError) {
	for _, part := range t {
		if ok, f := part.holds(v); f != nil || !ok {
			return false, f
		}
	}
	return true, nil
}

func (t anyOf) holds(v *view) (bool, *stateError) {
	for _, part := range t {
		if ok, f := part.holds(v); f != nil || ok {
			return ok, f
		}
	}
	return false, nil
}

func (t not) holds(v *view) (bool, *stateError) {
	ok, f := t.test.holds(v)
	return !ok, f
}

// A condition is that of a rule in JSONata. always is one that is no expression.
type (
	condition struct{ *query }
	always    bool
)

func (t condition) holds(v *view) (bool, *stateError) {
	value, f := t.typed(v, jsonata.Boolean)
	return value.Bool(), f
}

func (t always) holds(*view) (bool, *stateError) { return bool(t), nil }

// comparison compares what Variable names with a literal or with what another
// path names.
type comparison struct {
	variable *jsonpath.Path
	operator operator
	literal  any
	path     *jsonpath.Path // of operators ending in Path
}

func (t *comparison) holds(v *view) (bool, *stateError) {
	left, found, f := v.get(t.variable)
	if f != nil {
		return false, f
	}
	if t.operator.presence {
		return t.literal == found, nil
	}
	if !found {
		return false, invalidChoicePath(t.variable)
	}
	right := t.literal
	if t.path != nil {
		if right, found, f = v.get(t.path); f != nil {
			return false, f
		}
		if !found {
			return false, invalidChoicePath(t.path)
		}
	}
	return t.operator.holds(left, right), nil
}

func invalidChoicePath(path *jsonpath.Path) *stateError {
	return runtimeError("Invalid path '%s': The choice state's condition path references an invalid value.", path.Text())
}

// rules compiles Choices.
func (s *state) rules() []rule {
	var out []rule
	for _, n := range s.source.List("Choices") {
		r := rule{test: testOf(n), out: s.transition(n, "Next")}
		r.out.outputPath = s.out.outputPath
		out = append(out, r)
	}
	return out
}

// testOf compiles a condition.
func testOf(n *node) test {
	if c := n.Get("Condition"); c != nil {
		if q := queryOf(c); q != nil {
			return condition{q}
		}
		return always(c.IsTrue())
	}
	for _, m := range n.Members {
		o, isOperator := operators[m.Name]
		switch {
		case m.Name == "And":
			return allOf(testsOf(m.Value))
		case m.Name == "Or":
			return anyOf(testsOf(m.Value))
		case m.Name == "Not":
			return not{testOf(m.Value)}
		case isOperator:
			t := &comparison{variable: jsontext.Meaning[*jsonpath.Path](n.Get("Variable")), operator: o, path: jsontext.Meaning[*jsonpath.Path](m.Value)}
			if t.path == nil {
				t.literal = treeOf(m.Value)
			}
			return t
		}
	}
	return nil
}

func testsOf(n *node) []test {
	parts := make([]test, len(n.Items))
	for i, item := range n.Items {
		parts[i] = testOf(item)
	}
	return parts
}
