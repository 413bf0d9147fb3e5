package interpreter

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jq"
)

// A jsonValue is one JSON value as text and as a tree. It creates the missing form on first use and keeps it. The
// forms do not change. A jsonValue belongs to one interpreter.
type jsonValue struct {
	json    []byte
	tree    any
	hasTree bool
}

func textValue(json []byte) *jsonValue { return &jsonValue{json: json} }
func treeValue(tree any) *jsonValue    { return &jsonValue{tree: tree, hasTree: true} }
func nullValue() *jsonValue            { return &jsonValue{json: []byte("null"), hasTree: true} }

// valueOf returns the value of a task or child; null if there is none.
func valueOf(v atom.Value) *jsonValue {
	if len(v) == 0 {
		return nullValue()
	}
	return textValue(v.JSON())
}

// value returns the tree.
func (d *jsonValue) value() (any, *stateerror.Error) {
	if !d.hasTree {
		tree, err := jq.Decode(d.json)
		if err != nil {
			return nil, stateerror.Expression("the data cannot be read: %v", err)
		}
		d.tree, d.hasTree = tree, true
	}
	return d.tree, nil
}

// text returns the JSON text.
func (d *jsonValue) text() ([]byte, *stateerror.Error) {
	if d.json == nil {
		text, err := jq.Encode(d.tree, atom.MaxValue-1)
		if err != nil {
			return nil, stateerror.Expression("%v", err)
		}
		d.json = text
	}
	return d.json, nil
}

// encoded returns the value in the form that tasks and runs receive.
func (d *jsonValue) encoded() (atom.Value, *stateerror.Error) {
	text, f := d.text()
	if f != nil {
		return nil, f
	}
	return atom.FromJSON(text), nil
}
