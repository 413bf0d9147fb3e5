package asl

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A jsonValue is one JSON value in one of its forms: text, tree for JSONPath, or
// value for JSONata. It makes the other forms on first use and keeps them. No form
// is ever changed. A jsonValue belongs to one interpreter, except for constants,
// which are only read.
type jsonValue struct {
	text     atom.Value
	tree     any
	hasTree  bool
	value    jsonata.Value
	hasValue bool
	constant bool // has text and tree from the start
	huge     bool // the text would be larger than any value may be
}

func textValue(v atom.Value) *jsonValue         { return &jsonValue{text: v} }
func treeValue(tree any) *jsonValue             { return &jsonValue{tree: tree, hasTree: true} }
func queryValue(value jsonata.Value) *jsonValue { return &jsonValue{value: value, hasValue: true} }

// constant returns a jsonValue that any number of interpreters may share.
func constant(tree any) *jsonValue {
	return &jsonValue{text: encode(tree), tree: tree, hasTree: true, constant: true}
}

var emptyObject = constant(&jsontext.OrderedMap{})

// decoded returns the tree.
func (d *jsonValue) decoded() (any, error) {
	if !d.hasTree {
		tree, err := decode(d.encoded().JSON())
		if err != nil {
			if _, ok := errors.AsType[*jsontext.Error](err); ok {
				return nil, fmt.Errorf("the data is not JSON: %w", err)
			}
			return nil, err
		}
		d.tree, d.hasTree = tree, true
	}
	return d.tree, nil
}

// query returns the value for JSONata.
func (d *jsonValue) query() (jsonata.Value, *stateError) {
	if d.hasValue {
		return d.value, nil
	}
	value, err := jsonata.Decode(d.encoded().JSON())
	if err != nil {
		return value, runtimeError("the data cannot be looked into: %v", err)
	}
	if !d.constant {
		d.value, d.hasValue = value, true
	}
	return value, nil
}

// json returns the text of a jsonValue, nil if it is not there.
func (d *jsonValue) json() []byte {
	if d == nil {
		return nil
	}
	return d.encoded().JSON()
}

// encoded returns the text as a Value.
func (d *jsonValue) encoded() atom.Value {
	if d.text == nil {
		switch {
		case d.hasTree:
			d.text = encode(d.tree)
		case d.value.Size()/sizePerByte < atom.MaxValue:
			d.text = atom.Value(d.value.AppendJSON([]byte{atom.CodecJSON}))
		}
		if d.text == nil || len(d.text) > atom.MaxValue {
			d.text, d.huge = atom.Null, true // the text is not whole
		}
	}
	return d.text
}

// tooLarge reports whether the value is beyond what a state may hand on. The text is
// not made for that where it cannot be.
func (d *jsonValue) tooLarge() bool {
	if d.text == nil && d.hasTree && bytesLeft(d.tree, MaxPayload) >= 0 {
		return false
	}
	return len(d.encoded())-1 > MaxPayload || d.huge
}

// bytesLeft returns what is left of so many bytes when the text of a tree has taken what it
// can take at most; it is negative when that is more.
func bytesLeft(tree any, left int) int {
	if left < 0 {
		return left
	}
	switch v := tree.(type) {
	case string:
		return left - escaped*len(v) - len(`"",`)
	case json.Number:
		return left - len(v) - len(`,`)
	case *jsonValue:
		if v.text == nil && v.hasTree {
			return bytesLeft(v.tree, left)
		}
		return left - len(v.encoded())
	case []any:
		left -= len(`[],`)
		for _, element := range v {
			left = bytesLeft(element, left)
		}
		return left
	case *jsontext.OrderedMap:
		left -= len(`{},`)
		for name, value := range v.All() {
			left = bytesLeft(value, left-escaped*len(name)-len(`"":`))
		}
		return left
	}
	return left - len(`false,`)
}

// escaped is the most bytes that a byte of a text can take in JSON.
const escaped = len(`\u0000`)
