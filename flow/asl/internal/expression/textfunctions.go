package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// format replaces each {} of a text by the next argument.
func format(args []any, _ func() uint64) (any, error) {
	template, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	var b []byte
	used := 1
	for i := 0; i < len(template) && len(b) <= data.MaxPayload; i++ {
		switch {
		case template[i] == '\\' && i+1 < len(template) && strings.IndexByte(escaped, template[i+1]) >= 0:
			i++
			b = append(b, template[i])
		case strings.HasPrefix(template[i:], "{}"):
			if used == len(args) {
				return nil, fmt.Errorf("the text has more {} than the %d values behind it", len(args)-1)
			}
			b = appendJava(b, args[used])
			used++
			i++
		default:
			b = append(b, template[i])
		}
	}
	if len(b) > data.MaxPayload {
		return nil, errTooLarge
	}
	if used < len(args) {
		return nil, fmt.Errorf("the text has %d {} for %d values", used-1, len(args)-1)
	}
	return string(b), nil
}

// appendJava appends a value as Java prints it: texts bare, objects as {a=1}.
func appendJava(b []byte, v any) []byte {
	if len(b) > data.MaxPayload {
		return b
	}
	switch v := v.(type) {
	case string:
		return append(b, v...)
	case []any:
		b = append(b, '[')
		for i, element := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendJava(b, element)
		}
		return append(b, ']')
	case *jsontext.OrderedMap:
		between := "{"
		for name, member := range v.All() {
			b = append(append(append(b, between...), name...), '=')
			b, between = appendJava(b, member), ", "
		}
		if v.Len() == 0 {
			b = append(b, '{')
		}
		return append(b, '}')
	}
	return data.AppendJSON(b, v, false)
}

func stringToJSON(args []any, _ func() uint64) (any, error) {
	s, err := text(args, 0)
	if err != nil || strings.TrimSpace(s) == "" {
		return nil, err
	}
	v, err := data.Decode([]byte(s))
	if err != nil {
		return nil, errors.New("argument 1 is not JSON")
	}
	if v == json.Number("-0") {
		v = json.Number("0")
	}
	return v, nil
}

func jsonToString(args []any, _ func() uint64) (any, error) {
	d := data.Tree(args[0])
	if d.TooLarge() {
		return nil, errTooLarge
	}
	return d.Encoded().String(), nil
}

// jsonMerge merges two objects; members of the second take precedence. The language has no deep merge.
func jsonMerge(args []any, _ func() uint64) (any, error) {
	a, ok := args[0].(*jsontext.OrderedMap)
	b, ok2 := args[1].(*jsontext.OrderedMap)
	switch {
	case !ok || !ok2:
		return nil, errors.New("arguments 1 and 2 must be objects")
	case args[2] != false:
		return nil, errors.New("argument 3 must be false: only shallow merging is there")
	}
	merged := jsontext.NewOrderedMap(a.Len() + b.Len())
	for _, object := range []*jsontext.OrderedMap{a, b} {
		for name, value := range object.All() {
			merged.Set(name, value)
		}
	}
	return merged, nil
}

// stringSplit splits at any character of the second argument and drops empty parts.
func stringSplit(args []any, _ func() uint64) (any, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	at, err := text(args, 1)
	if err != nil {
		return nil, err
	}
	pieces := []any{}
	for _, piece := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(at, r) }) {
		pieces = append(pieces, piece)
	}
	return pieces, nil
}
