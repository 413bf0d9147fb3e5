package expression

import (
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// A Test is a compiled condition.
type Test interface {
	Holds(v *View) (bool, *stateerror.Error)
}

type (
	AllOf []Test // And
	AnyOf []Test // Or
	Not   struct{ Test }
)

func (t AllOf) Holds(v *View) (bool, *stateerror.Error) {
	for _, part := range t {
		if ok, f := part.Holds(v); f != nil || !ok {
			return false, f
		}
	}
	return true, nil
}

func (t AnyOf) Holds(v *View) (bool, *stateerror.Error) {
	for _, part := range t {
		if ok, f := part.Holds(v); f != nil || ok {
			return ok, f
		}
	}
	return false, nil
}

func (t Not) Holds(v *View) (bool, *stateerror.Error) {
	ok, f := t.Test.Holds(v)
	return !ok, f
}

// A Condition is that of a rule in JSONata. always is one that is no expression.
type (
	Condition struct{ *Query }
	Always    bool
)

func (t Condition) Holds(v *View) (bool, *stateerror.Error) {
	value, f := t.Typed(v, jsonata.Boolean)
	return value.Bool(), f
}

func (t Always) Holds(*View) (bool, *stateerror.Error) { return bool(t), nil }

// Comparison compares what Variable names with a literal or with what another
// path names.
type Comparison struct {
	Variable *jsonpath.Path
	Operator Operator
	Literal  any
	Path     *jsonpath.Path // of operators ending in Path
}

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
	return stateerror.Runtimef("Invalid path '%s': The choice state's condition path references an invalid value.", path.Text())
}
