package saga

import (
	"bytes"
	"encoding/json"

	"github.com/ebbflow/ebb/internal/jsontext"
)

const lineLength = 120 // of what is printed

// encode returns a value as JSON. What fits in a line stands in one.
func encode(value any) []byte {
	return append(printed(nil, value, 0, 0), '\n')
}

// printed appends a value that begins in a column to a text whose lines are indented.
func printed(b []byte, value any, indent, column int) []byte {
	if line := inline(nil, value); column+len(line) <= lineLength && (indent > 0 || !nested(value)) {
		return append(b, line...)
	}
	switch value := value.(type) {
	case *object:
		b = append(b, '{')
		first := true
		for name, member := range value.All() {
			b = begin(b, &first, indent+1)
			at := len(b)
			b = append(jsontext.AppendString(b, name), ": "...)
			b = printed(b, member, indent+1, 2*(indent+1)+len(b)-at+1)
		}
		return append(end(b, indent), '}')
	case []any:
		b = append(b, '[')
		first := true
		for _, item := range value {
			b = begin(b, &first, indent+1)
			b = printed(b, item, indent+1, 2*(indent+1)+1)
		}
		return append(end(b, indent), ']')
	}
	return inline(b, value)
}

func begin(b []byte, first *bool, indent int) []byte {
	if !*first {
		b = append(b, ',')
	}
	*first = false
	return end(b, indent)
}

func end(b []byte, indent int) []byte {
	return append(append(b, '\n'), bytes.Repeat([]byte("  "), indent)...)
}

// nested reports whether a value has values inside.
func nested(value any) bool {
	o, is := value.(*object)
	return is && o.Len() > 0
}

// inline appends a value in one line.
func inline(b []byte, value any) []byte {
	switch value := value.(type) {
	case *object:
		b = append(b, '{')
		for name, member := range value.All() {
			if b[len(b)-1] != '{' {
				b = append(b, ", "...)
			}
			b = inline(append(jsontext.AppendString(b, name), ": "...), member)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range value {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = inline(b, item)
		}
		return append(b, ']')
	case string:
		return jsontext.AppendString(b, value)
	case json.Number:
		return append(b, value...)
	case bool:
		if value {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	}
	return append(b, "null"...)
}
