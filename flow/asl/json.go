package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
)

// Data flows through states as text and is decoded only where a state looks
// into it. Decoded, it is what encoding/json gives with UseNumber: numbers keep
// the digits they were written with.

var errDepth = fmt.Errorf("the value nests deeper than %d", maxValueDepth)

// decode returns the tree of a JSON text.
func decode(text []byte) (any, error) {
	r := &reader{text: text}
	tree, err := r.tree(0)
	if err != nil {
		return nil, err
	}
	if r.space(); r.pos < len(text) {
		return nil, r.fault("expected nothing more behind the value, found %s", r.found())
	}
	return tree, nil
}

func (r *reader) tree(depth int) (any, error) {
	if depth > maxValueDepth {
		return nil, errDepth
	}
	r.space()
	if r.pos >= len(r.text) {
		return nil, r.fault("expected a value, found %s", r.found())
	}
	switch c := r.text[r.pos]; {
	case c == '{':
		return r.treeObject(depth)
	case c == '[':
		return r.treeArray(depth)
	case c == '"':
		return r.string()
	case c == '-' || '0' <= c && c <= '9':
		n, err := r.number()
		return json.Number(n), err
	}
	var n node
	if err := r.word(&n); err != nil {
		return nil, err
	}
	return n.tree(), nil
}

func (r *reader) treeObject(depth int) (any, error) {
	object := map[string]any{}
	err := r.members(func(name string) error {
		value, err := r.tree(depth + 1)
		object[name] = value
		return err
	})
	return object, err
}

func (r *reader) treeArray(depth int) (any, error) {
	array := []any{}
	r.pos++
	if r.space(); r.take(']') {
		return array, nil
	}
	for {
		value, err := r.tree(depth + 1)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
		if r.space(); r.take(',') {
			continue
		}
		if !r.take(']') {
			return nil, r.fault("expected ',' or ']', found %s", r.found())
		}
		return array, nil
	}
}

// members calls value at the place of each member's value of an object; value
// moves over it.
func (r *reader) members(value func(name string) error) error {
	if r.space(); !r.take('{') {
		return r.fault("expected an object, found %s", r.found())
	}
	if r.space(); r.take('}') {
		return nil
	}
	for {
		if r.space(); r.pos >= len(r.text) || r.text[r.pos] != '"' {
			return r.fault("expected a name, found %s", r.found())
		}
		name, err := r.string()
		if err != nil {
			return err
		}
		if r.space(); !r.take(':') {
			return r.fault("expected ':', found %s", r.found())
		}
		r.space()
		if err := value(name); err != nil {
			return err
		}
		if r.space(); r.take(',') {
			continue
		}
		if !r.take('}') {
			return r.fault("expected ',' or '}', found %s", r.found())
		}
		return nil
	}
}

// skip moves over one value without looking into it and returns its text. It
// trusts that the text is JSON: notes are written by this package.
func (r *reader) skip() []byte {
	start, depth := r.pos, 0
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case '"':
			r.skipString()
			if depth == 0 {
				return r.text[start:r.pos]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return r.text[start:r.pos]
			}
			if depth--; depth == 0 {
				r.pos++
				return r.text[start:r.pos]
			}
		case ',':
			if depth == 0 {
				return r.text[start:r.pos]
			}
		}
		r.pos++
	}
	return r.text[start:]
}

func (r *reader) skipString() {
	for r.pos++; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '\\':
			r.pos++
		case '"':
			r.pos++
			return
		}
	}
	r.pos = len(r.text)
}

// encode returns the Value of a tree. Members are ordered by name, so equal
// trees have equal texts.
func encode(tree any) atom.Value {
	return atom.Value(appendJSON(append(make([]byte, 0, 64), atom.CodecJSON), tree))
}

// appendJSON appends the JSON text of a tree. A small tree can have a very large
// text, for a template may name the same value any number of times; so it stops
// where the text is larger than any value may be.
func appendJSON(b []byte, tree any) []byte {
	if len(b) > atom.MaxValue {
		return b
	}
	switch v := tree.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendString(b, v)
	case json.Number:
		return append(b, v...)
	case *datum:
		return append(b, v.encoded().JSON()...)
	case []any:
		b = append(b, '[')
		for i, element := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, element)
		}
		return append(b, ']')
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, name), ':')
			b = appendJSON(b, v[name])
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("asl: a %T is no JSON value", tree)) // trees are made by decode and by expressions only
}

// number returns a whole number as trees hold it.
func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// appendString appends a JSON string. Nothing is escaped that need not be.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	plain := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[plain:i]...)
		plain = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[plain:]...), '"')
}

// A datum is one JSON value in either of its forms, text and tree; the other is
// made when it is first asked for, and kept. Neither is ever changed. A datum
// belongs to one walk, except for constants, which have both forms from the
// start.
type datum struct {
	text    atom.Value
	tree    any
	hasTree bool
	huge    bool // the text would be larger than any value may be
}

func textDatum(v atom.Value) *datum { return &datum{text: v} }
func treeDatum(tree any) *datum     { return &datum{tree: tree, hasTree: true} }

// constant returns a datum that any number of walks may share.
func constant(tree any) *datum {
	return &datum{text: encode(tree), tree: tree, hasTree: true}
}

var emptyObject = constant(map[string]any{})

// value returns the tree.
func (d *datum) value() (any, error) {
	if !d.hasTree {
		tree, err := decode(d.text.JSON())
		if err != nil {
			if _, ok := errors.AsType[*textError](err); ok {
				return nil, fmt.Errorf("the data is not JSON: %w", err)
			}
			return nil, err
		}
		d.tree, d.hasTree = tree, true
	}
	return d.tree, nil
}

// encoded returns the text as a Value.
func (d *datum) encoded() atom.Value {
	if d.text == nil {
		d.text = encode(d.tree)
		if len(d.text) > atom.MaxValue {
			d.text, d.huge = atom.Null, true // the text is not whole
		}
	}
	return d.text
}

// tooLarge reports whether the value is beyond what a state may hand on.
func (d *datum) tooLarge() bool { return len(d.encoded())-1 > MaxPayload || d.huge }
