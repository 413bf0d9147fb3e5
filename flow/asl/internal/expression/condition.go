package expression

import (
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// A Test is the condition of a rule of a Choice state.
type Test func(v *View) (bool, *stateerror.Error)

// AllOf is And.
func AllOf(parts []Test) Test {
	return func(v *View) (bool, *stateerror.Error) {
		for _, part := range parts {
			if ok, f := part(v); f != nil || !ok {
				return false, f
			}
		}
		return true, nil
	}
}

// AnyOf is Or.
func AnyOf(parts []Test) Test {
	return func(v *View) (bool, *stateerror.Error) {
		for _, part := range parts {
			if ok, f := part(v); f != nil || ok {
				return ok, f
			}
		}
		return false, nil
	}
}

// Not is Not.
func Not(part Test) Test {
	return func(v *View) (bool, *stateerror.Error) {
		ok, f := part(v)
		return !ok, f
	}
}

// Always returns a condition in JSONata that is a constant.
func Always(holds bool) Test {
	return func(*View) (bool, *stateerror.Error) { return holds, nil }
}

// Holds evaluates the query as a condition.
func (q *Query) Holds(v *View) (bool, *stateerror.Error) {
	value, f := q.Typed(v, jsonata.Boolean)
	return value.Bool(), f
}

// Comparison compares the value that Variable names with a literal, or with the value that another path names.
type Comparison struct {
	Variable *jsonpath.Path
	Operator Operator
	Literal  any
	Path     *jsonpath.Path // for operators ending in Path
}

// Holds makes the comparison.
func (t *Comparison) Holds(v *View) (bool, *stateerror.Error) {
	left, found, f := v.Get(t.Variable)
	if f != nil {
		return false, f
	}
	if t.Operator.presence {
		return t.Literal == found, nil
	}
	if !found {
		return false, invalidChoicePath(t.Variable)
	}
	right := t.Literal
	if t.Path != nil {
		if right, found, f = v.Get(t.Path); f != nil {
			return false, f
		}
		if !found {
			return false, invalidChoicePath(t.Path)
		}
	}
	return t.Operator.holds(left, right), nil
}

func invalidChoicePath(path *jsonpath.Path) *stateerror.Error {
	return stateerror.Runtimef("Invalid path '%s': The choice state's condition path references an invalid value.",
		path.Text())
}
