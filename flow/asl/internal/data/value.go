package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A Value is one JSON value as a text, a tree for JSONPath, or a value for JSONata. It creates missing forms on
// first use and keeps them. The forms do not change. A Value belongs to one interpreter, except constants, which
// are only read.
type Value struct {
	text     atom.Value
	Tree     any
	hasTree  bool
	Value    jsonata.Value
	hasValue bool
	constant bool // has text and tree from the start
	huge     bool // the text would exceed the maximum size of a value
}

// Text returns the value of a JSON text.
func Text(v atom.Value) *Value { return &Value{text: v} }

// Tree returns the value of a tree.
func Tree(tree any) *Value { return &Value{Tree: tree, hasTree: true} }

// Query returns the value that a query returned.
func Query(value jsonata.Value) *Value { return &Value{Value: value, hasValue: true} }

// Constant returns a value that any number of interpreters may share.
func Constant(tree any) *Value {
	return &Value{text: Encode(tree), Tree: tree, hasTree: true, constant: true}
}

// ConstantOf returns a constant whose forms exist; the form for JSONata may be missing.
func ConstantOf(text atom.Value, tree any, value jsonata.Value, hasValue bool) *Value {
	return &Value{text: text, Tree: tree, hasTree: true, Value: value, hasValue: hasValue, constant: true}
}

// EmptyObject is {}.
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

// Look is Decoded with the error of a state.
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

// JSON returns the text of a value; nil if d is nil.
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
			d.text, d.huge = atom.Null, true // the text is not complete
		}
	}
	return d.text
}

// TooLarge reports whether the value exceeds MaxPayload. If the size follows from the tree, TooLarge does not
// create the text.
func (d *Value) TooLarge() bool {
	if d.text == nil && d.hasTree && bytesLeft(d.Tree, MaxPayload) >= 0 {
		return false
	}
	return len(d.Encoded())-1 > MaxPayload || d.huge
}

// bytesLeft subtracts from left the maximum size of the text of a tree; the result may be negative.
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

// escaped is the maximum number of bytes that a byte of a text takes in JSON.
const escaped = len(`\u0000`)

// States pass data on as text, and decode it only where a state reads it. A decoded value is what encoding/json
// returns with UseNumber: numbers keep their digits, and objects keep the order of their members.

var errDepth = fmt.Errorf("the value nests deeper than %d", maxValueDepth)

// Decode returns the tree of a JSON text.
func Decode(text []byte) (any, error) {
	tree, err := jsontext.DecodeOrdered(text, maxValueDepth, func(literal string) any { return json.Number(literal) })
	if broken, ok := errors.AsType[*jsontext.Error](err); ok && broken.Deep {
		return nil, errDepth
	}
	return tree, err
}

// Encode returns the Value of a tree.
func Encode(tree any) atom.Value {
	return atom.Value(AppendJSON(append(make([]byte, 0, 64), atom.CodecJSON), tree, false))
}

// AppendJSON appends the JSON text of a tree. A small tree can have a very large text, because a template may name
// the same value any number of times. Therefore, AppendJSON stops when the text exceeds the maximum size of a
// value. If sorted is true, members are ordered by name, so that equal trees have equal texts.
func AppendJSON(b []byte, tree any, sorted bool) []byte {
	if len(b) > atom.MaxValue {
		return b
	}
	switch v := tree.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return jsontext.AppendString(b, v)
	case json.Number:
		return append(b, v...)
	case *Value:
		if sorted {
			if tree, err := v.Decoded(); err == nil {
				return AppendJSON(b, tree, true)
			}
		}
		return append(b, v.Encoded().JSON()...)
	case []any:
		b = append(b, '[')
		for i, element := range v {
			b = AppendJSON(Separated(b, i), element, sorted)
		}
		return append(b, ']')
	case *jsontext.OrderedMap:
		b = append(b, '{')
		n := 0
		member := func(name string, value any) {
			b = append(jsontext.AppendString(Separated(b, n), name), ':')
			b = AppendJSON(b, value, sorted)
			n++
		}
		if sorted {
			for _, name := range v.Names() {
				value, _ := v.Get(name)
				member(name, value)
			}
		} else {
			for name, value := range v.All() {
				member(name, value)
			}
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("asl: a %T is no JSON value", tree)) // only Decode and expressions create trees
}

// Number returns an integer in the form of trees.
func Number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// EncodeMembers returns the Value of an object of data.
func EncodeMembers(values map[string]*Value) atom.Value {
	return atom.Value(WriteMembers(jsontext.NewWriter(atom.CodecJSON), values).Bytes())
}

// WriteMembers writes the data as members, ordered by name.
func WriteMembers(w *jsontext.Writer, values map[string]*Value) *jsontext.Writer {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		w.Raw(name, values[name].Encoded().JSON())
	}
	return w
}

// ReadMembers reads the members that WriteMembers wrote.
func ReadMembers(r *jsontext.Reader) (map[string]*Value, error) {
	all := map[string]*Value{}
	err := r.Members(func(name string) error {
		all[name] = Read(r)
		return nil
	})
	return all, err
}

// Read reads one value.
func Read(r *jsontext.Reader) *Value { return Text(atom.FromJSON(r.Skip())) }

const (
	// MaxPayload is asl.MaxPayload.
	//
	//limit:asl effective input, result, output, variable (`asl.MaxPayload`) | {B} | `States.DataLimitExceeded`
	MaxPayload = 256 << 10

	//limit:asl nesting of data | {} | the state fails
	maxValueDepth = 500
)

// Separated appends the comma before the ith element of a list.
func Separated(text []byte, i int) []byte {
	if i > 0 {
		text = append(text, ',')
	}
	return text
}

// SizePerByte is more than what a byte of JSON can count for a value's size.
const SizePerByte = 16
