package asl

import (
	"encoding/json"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A payload is a value of a definition in which something may be evaluated. A
// *jsonValue is one in which nothing is.
type payload interface {
	of(v *view) (*jsonValue, *stateError)
}

func (d *jsonValue) of(*view) (*jsonValue, *stateError) { return d, nil }

// A template is a compiled payload template. Members whose name ends in .$ are
// evaluated, all else stands as it is.
type template struct {
	constant *jsonValue // not nil: nothing in it is evaluated
	expr     expression
	fields   []templateField // of an object
	items    []*template     // of an array
}

type templateField struct {
	name  string
	value *template
}

// An expression is the value of a .$ member: a path or an intrinsic function.
type expression interface {
	evaluate(v *view) (any, *stateError)
}

// treeOf returns what a node stands for, evaluating nothing.
func treeOf(n *node) any {
	switch n.Kind {
	case jsontext.Bool:
		return n.Str == "true"
	case jsontext.Number:
		return json.Number(n.Str)
	case jsontext.String:
		return n.Str
	case jsontext.Array:
		array := make([]any, len(n.Items))
		for i, item := range n.Items {
			array[i] = treeOf(item)
		}
		return array
	case jsontext.Object:
		object := jsontext.NewOrderedMap(len(n.Members))
		for _, m := range n.Members {
			object.Set(m.Name, treeOf(m.Value))
		}
		return object
	default:
		return nil
	}
}

// dynamicField returns the first member at any depth whose name ends in .$, or
// nil.
func dynamicField(n *node) *node {
	for _, m := range n.Members {
		if strings.HasSuffix(m.Name, ".$") {
			return m.Value
		}
		if found := dynamicField(m.Value); found != nil {
			return found
		}
	}
	for _, item := range n.Items {
		if found := dynamicField(item); found != nil {
			return found
		}
	}
	return nil
}

// payload returns the template, or the constant that it is.
func (t *template) payload() payload {
	if t.constant != nil {
		return t.constant
	}
	return t
}

// evaluate returns what the template gives.
func (t *template) evaluate(v *view) (any, *stateError) {
	switch {
	case t.constant != nil:
		return t.constant.tree, nil
	case t.expr != nil:
		return t.expr.evaluate(v)
	case t.fields != nil:
		object := jsontext.NewOrderedMap(len(t.fields))
		for i := range t.fields {
			value, f := t.fields[i].value.evaluate(v)
			if f != nil {
				return nil, f
			}
			object.Set(t.fields[i].name, value)
		}
		return object, nil
	}
	array := make([]any, len(t.items))
	for i, item := range t.items {
		value, f := item.evaluate(v)
		if f != nil {
			return nil, f
		}
		array[i] = value
	}
	return array, nil
}

func (t *template) of(v *view) (*jsonValue, *stateError) {
	tree, f := t.evaluate(v)
	if f != nil {
		return nil, f
	}
	return treeValue(tree), nil
}
