package data

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A Value is one JSON value in one of its forms: text, tree for JSONPath, or
// value for JSONata. It makes the other forms on first use and keeps them. No form
// is ever changed. A jsonValue belongs to one interpreter, except for constants,
// which are only read.
type Value struct {
	text     atom.Value
	Tree     any
	hasTree  bool
	Value    jsonata.Value
	hasValue bool
	constant bool // has text and tree from the start
	huge     bool // the text would be larger than any value may be
}

func Text(v atom.Value) *Value { return &Value{text: v} }

func Tree(tree any) *Value { return &Value{Tree: tree, hasTree: true} }

func Query(value jsonata.Value) *Value { return &Value{Value: value, hasValue: true} }

// Constant returns a jsonValue that any number of interpreters may share.
func Constant(tree any) *Value {
	return &Value{text: Encode(tree), Tree: tree, hasTree: true, constant: true}
}

// ConstantOf is constant for a value of which all forms are there: the one for JSONata may be missing.
func ConstantOf(text atom.Value, tree any, value jsonata.Value, hasValue bool) *Value {
	return &Value{text: text, Tree: tree, hasTree: true, Value: value, hasValue: hasValue, constant: true}
}

var EmptyObject = Constant(&jsontext.OrderedMap{})

// Decoded returns the tree.
func (d *Value) Decoded() (any, error) {
	if !d.hasTree {
		tree, err := Decode(d.Encoded().JSON())
		if err != nil {
			if _, ok := errors.AsType[*jsontext.Error](err); ok {
				return nil, fmt.Errorf("the data is not JSON: %w", err)
			}
			return nil, err
		}
		d.Tree, d.hasTree = tree, true
	}
	return d.Tree, nil
}

// Look is decoded with an error becoming a stateError.
func (d *Value) Look() (any, *stateerror.Error) {
	tree, err := d.Decoded()
	if err != nil {
		return nil, stateerror.Runtimef("%v", err)
	}
	return tree, nil
}

// Query returns the value for JSONata.
func (d *Value) Query() (jsonata.Value, *stateerror.Error) {
	if d.hasValue {
		return d.Value, nil
	}
	value, err := jsonata.Decode(d.Encoded().JSON())
	if err != nil {
		return value, stateerror.Runtimef("the data cannot be looked into: %v", err)
	}
	if !d.constant {
		d.Value, d.hasValue = value, true
	}
	return value, nil
}

// JSON returns the text of a jsonValue, nil if it is not there.
func (d *Value) JSON() []byte {
	if d == nil {
		return nil
	}
	return d.Encoded().JSON()
}

// Encoded returns the text as a Value.
func (d *Value) Encoded() atom.Value {
	if d.text == nil {
		switch {
		case d.hasTree:
			d.text = Encode(d.Tree)
		case d.Value.Size()/SizePerByte < atom.MaxValue:
			d.text = atom.Value(d.Value.AppendJSON([]byte{atom.CodecJSON}))
		}
		if d.text == nil || len(d.text) > atom.MaxValue {
			d.text, d.huge = atom.Null, true // the text is not whole
		}
	}
	return d.text
}

// TooLarge reports whether the value is beyond what a state may hand on. The text is
// not made for that where it cannot be.
func (d *Value) TooLarge() bool {
	if d.text == nil && d.hasTree && bytesLeft(d.Tree, MaxPayload) >= 0 {
		return false
	}
	return len(d.Encoded())-1 > MaxPayload || d.huge
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
	case *Value:
		if v.text == nil && v.hasTree {
			return bytesLeft(v.Tree, left)
		}
		return left - len(v.Encoded())
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
