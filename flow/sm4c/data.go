package sm4c

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jq"
)

// A jsonValue is one JSON value in one of its forms, text and tree. It makes the
// other form on first use and keeps it. Neither is ever changed. A jsonValue belongs
// to one interpreter.
type jsonValue struct {
	json    []byte
	tree    any
	hasTree bool
}

func textValue(json []byte) *jsonValue { return &jsonValue{json: json} }
func treeValue(tree any) *jsonValue    { return &jsonValue{tree: tree, hasTree: true} }
func nullValue() *jsonValue            { return &jsonValue{json: []byte("null"), hasTree: true} }

// valueOf returns what a task or child gave; null for nothing.
func valueOf(v atom.Value) *jsonValue {
	if len(v) == 0 {
		return nullValue()
	}
	return textValue(v.JSON())
}

// value returns the tree.
func (d *jsonValue) value() (any, *stateError) {
	if !d.hasTree {
		tree, err := jq.Decode(d.json)
		if err != nil {
			return nil, expressionError("the data cannot be read: %v", err)
		}
		d.tree, d.hasTree = tree, true
	}
	return d.tree, nil
}

// text returns the JSON text.
func (d *jsonValue) text() ([]byte, *stateError) {
	if d.json == nil {
		text, err := jq.Encode(d.tree, atom.MaxValue-1)
		if err != nil {
			return nil, expressionError("%v", err)
		}
		d.json = text
	}
	return d.json, nil
}

// encoded returns the value as tasks and runs are given it.
func (d *jsonValue) encoded() (atom.Value, *stateError) {
	text, f := d.text()
	if f != nil {
		return nil, f
	}
	return atom.FromJSON(text), nil
}

// evaluate runs an expression that reads: no output is null, and more than one a
// error.
func (e *expression) evaluate(until func() bool, input any, variables ...any) (any, *stateError) {
	result, f := e.run(until, input, variables...)
	return result.Value, f
}

func (e *expression) run(until func() bool, input any, variables ...any) (jq.Result, *stateError) {
	program := e
	for program.fn != nil {
		program = program.fn
	}
	if program.args && !e.args { // ${ fn:name }
		variables = []any{map[string]any{}}
	}
	result, err := program.program.RunUntil(until, input, variables...)
	switch {
	case err != nil:
		return result, expressionError("%s: %v", e.where, err)
	case result.Count > 1:
		return result, expressionError("%s: the expression gives more than one value", e.where)
	}
	return result, nil
}

// resolve returns a template's value for an input.
func (t *template) resolve(until func() bool, input any, variables ...any) (any, *stateError) {
	switch {
	case t.expression != nil:
		return t.expression.evaluate(until, input, variables...)
	case t.members != nil:
		object := make(map[string]any, len(t.members))
		for i := range t.members {
			v, f := t.members[i].value.resolve(until, input, variables...)
			if f != nil {
				return nil, f
			}
			object[t.members[i].name] = v
		}
		return object, nil
	case t.list != nil:
		list := make([]any, len(t.list))
		for i := range t.list {
			v, f := t.list[i].resolve(until, input, variables...)
			if f != nil {
				return nil, f
			}
			list[i] = v
		}
		return list, nil
	}
	return t.constant, nil
}
