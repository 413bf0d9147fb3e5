package jsontext

import "encoding/json"

// Decode returns the tree of a JSON text: nil, bool, string, []any and map[string]any. For numbers, it returns the
// result of number for their literals. The error is *[Error].
func Decode(text []byte, maxDepth int, number func(literal string) any) (any, error) {
	return decode(text, maxDepth, number, false)
}

// DecodeOrdered is Decode with [*OrderedMap] in place of map[string]any, so members keep their order. If several
// members have the same name, the last one counts.
func DecodeOrdered(text []byte, maxDepth int, number func(literal string) any) (any, error) {
	return decode(text, maxDepth, number, true)
}

func decode(text []byte, maxDepth int, number func(literal string) any, ordered bool) (any, error) {
	r := &Reader{text: text}
	tree, err := r.tree(maxDepth, number, ordered)
	if err != nil {
		return nil, err
	}
	if r.Space(); r.pos < len(text) {
		return nil, r.fault("expected nothing more behind the value, found %s", r.found())
	}
	return tree, nil
}

func (r *Reader) tree(depth int, number func(string) any, ordered bool) (any, error) {
	if depth < 0 {
		return nil, r.deep()
	}
	r.Space()
	switch c := r.next(); {
	case c == '{' && ordered:
		object := &OrderedMap{}
		err := r.members(func(name string, _ int) error {
			value, err := r.tree(depth-1, number, ordered)
			object.Set(name, value)
			return err
		})
		return object, err
	case c == '{':
		object := map[string]any{}
		err := r.members(func(name string, _ int) error {
			value, err := r.tree(depth-1, number, ordered)
			object[name] = value
			return err
		})
		return object, err
	case c == '[':
		array := []any{}
		err := r.Elements(func() error {
			value, err := r.tree(depth-1, number, ordered)
			array = append(array, value)
			return err
		})
		return array, err
	case c == '"':
		return r.String()
	case c == '-' || '0' <= c && c <= '9':
		literal, err := r.Number()
		if err != nil {
			return nil, err
		}
		return number(literal), nil
	}
	word, err := r.word()
	if err != nil || word == "null" {
		return nil, err
	}
	return word == "true", nil
}

// Tree returns the value of a node: nil, bool, json.Number, string, []any or *[OrderedMap].
func (n *Node) Tree() any {
	switch n.Kind {
	case Bool:
		return n.IsTrue()
	case Number:
		return json.Number(n.Str)
	case String:
		return n.Str
	case Array:
		array := make([]any, len(n.Items))
		for i, item := range n.Items {
			array[i] = item.Tree()
		}
		return array
	case Object:
		o := NewOrderedMap(len(n.Members))
		for _, m := range n.Members {
			o.Set(m.Name, m.Value.Tree())
		}
		return o
	default:
		return nil
	}
}
