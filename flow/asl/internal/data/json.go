package data

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Data flows through states as text and is decoded only where a state looks
// into it. Decoded, it is what encoding/json gives with UseNumber: numbers keep
// the digits they were written with, and objects the order of their members.

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
	return atom.Value(AppendJSON(append(make([]byte, 0, 64), atom.CodecJSON), tree))
}

// AppendJSON appends the JSON text of a tree. A small tree can have a very large
// text, for a template may name the same value any number of times; so it stops
// where the text is larger than any value may be.
func AppendJSON(b []byte, tree any) []byte { return AppendTree(b, tree, false) }

// AppendTree is appendJSON; sorted has members ordered by name, so that equal trees
// have equal texts.
func AppendTree(b []byte, tree any, sorted bool) []byte {
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
				return AppendTree(b, tree, true)
			}
		}
		return append(b, v.Encoded().JSON()...)
	case []any:
		b = append(b, '[')
		for i, element := range v {
			b = AppendTree(Separated(b, i), element, sorted)
		}
		return append(b, ']')
	case *jsontext.OrderedMap:
		b = append(b, '{')
		n := 0
		member := func(name string, value any) {
			b = append(jsontext.AppendString(Separated(b, n), name), ':')
			b = AppendTree(b, value, sorted)
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
	panic(fmt.Sprintf("asl: a %T is no JSON value", tree)) // trees are made by decode and by expressions only
}

// Number returns a whole number as trees hold it.
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

// ReadMembers reads what writeData wrote.
func ReadMembers(r *jsontext.Reader) (map[string]*Value, error) {
	all := map[string]*Value{}
	err := r.Members(func(name string) error {
		all[name] = Read(r)
		return nil
	})
	return all, err
}

func Read(r *jsontext.Reader) *Value { return Text(atom.FromJSON(r.Skip())) }

const (
	// MaxPayload is the size in bytes of the largest effective input, task
	// result, state output or variable, as AWS has it. A larger one fails the
	// state with States.DataLimitExceeded.
	MaxPayload = 256 << 10

	maxValueDepth = 500 // of data that is looked into
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
