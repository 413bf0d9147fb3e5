package asl

import (
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
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
