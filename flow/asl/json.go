package asl

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

// decode returns the tree of a JSON text.
func decode(text []byte) (any, error) {
	tree, err := jsontext.DecodeOrdered(text, maxValueDepth, func(literal string) any { return json.Number(literal) })
	if broken, ok := errors.AsType[*jsontext.Error](err); ok && broken.Deep {
		return nil, errDepth
	}
	return tree, err
}

// encode returns the Value of a tree.
func encode(tree any) atom.Value {
	return atom.Value(appendJSON(append(make([]byte, 0, 64), atom.CodecJSON), tree))
}

// appendJSON appends the JSON text of a tree. A small tree can have a very large
// text, for a template may name the same value any number of times; so it stops
// where the text is larger than any value may be.
func appendJSON(b []byte, tree any) []byte { return appendTree(b, tree, false) }

// appendTree is appendJSON; sorted has members ordered by name, so that equal trees
// have equal texts.
func appendTree(b []byte, tree any, sorted bool) []byte {
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
	case *jsonValue:
		if sorted {
			if tree, err := v.decoded(); err == nil {
				return appendTree(b, tree, true)
			}
		}
		return append(b, v.encoded().JSON()...)
	case []any:
		b = append(b, '[')
		for i, element := range v {
			b = appendTree(separated(b, i), element, sorted)
		}
		return append(b, ']')
	case *jsontext.OrderedMap:
		b = append(b, '{')
		n := 0
		member := func(name string, value any) {
			b = append(jsontext.AppendString(separated(b, n), name), ':')
			b = appendTree(b, value, sorted)
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

// number returns a whole number as trees hold it.
func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// encodeData returns the Value of an object of data.
func encodeData(values map[string]*jsonValue) atom.Value {
	return atom.Value(writeData(jsontext.NewWriter(atom.CodecJSON), values).Bytes())
}

// writeData writes the data as members, ordered by name.
func writeData(w *jsontext.Writer, values map[string]*jsonValue) *jsontext.Writer {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		w.Raw(name, values[name].encoded().JSON())
	}
	return w
}

// readData reads what writeData wrote.
func readData(r *jsontext.Reader) (map[string]*jsonValue, error) {
	all := map[string]*jsonValue{}
	err := r.Members(func(name string) error {
		all[name] = readValue(r)
		return nil
	})
	return all, err
}

func readValue(r *jsontext.Reader) *jsonValue { return textValue(atom.FromJSON(r.Skip())) }
