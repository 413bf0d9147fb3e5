package asl

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A document is a payload in JSONata: the text of a JSON value with queries in
// it. Members keep their order.
type document struct {
	texts   []string // before each query, and behind the last
	queries []*query
}

// documentOf compiles a payload in JSONata; nil gives nil.
func documentOf(n *node) payload {
	if n == nil {
		return nil
	}
	if q := queryOf(n); q != nil {
		return q
	}
	d := &document{}
	rest := d.add(nil, n)
	if len(d.queries) == 0 {
		value, err := jsonata.Decode(rest)
		return &jsonValue{text: atom.FromJSON(rest), tree: treeOf(n), hasTree: true, value: value, hasValue: err == nil, constant: true}
	}
	d.texts = append(d.texts, string(rest))
	return d
}

// add adds a value to the document. The text behind the last query goes from
// call to call.
func (d *document) add(text []byte, n *node) []byte {
	if q := queryOf(n); q != nil {
		d.texts, d.queries = append(d.texts, string(text)), append(d.queries, q)
		return text[:0]
	}
	switch n.Kind {
	case jsontext.Array:
		text = append(text, '[')
		for i, item := range n.Items {
			text = d.add(separated(text, i), item)
		}
		return append(text, ']')
	case jsontext.Object:
		text = append(text, '{')
		for i, m := range n.Members {
			text = d.add(append(jsontext.AppendString(separated(text, i), m.Name), ':'), m.Value)
		}
		return append(text, '}')
	case jsontext.String:
		return jsontext.AppendString(text, n.Str)
	case jsontext.Null:
		return append(text, "null"...)
	default:
		return append(text, n.Str...)
	}
}

func separated(text []byte, i int) []byte {
	if i > 0 {
		text = append(text, ',')
	}
	return text
}

// of evaluates the queries in the order of the text. It stops where the text is
// larger than any payload may be.
func (d *document) of(v *view) (*jsonValue, *stateError) {
	text := append(make([]byte, 0, 128), atom.CodecJSON)
	for i, q := range d.queries {
		text = append(text, d.texts[i]...)
		value, f := q.evaluate(v)
		if f != nil {
			return nil, f
		}
		if len(text)+value.Size()/sizePerByte > MaxPayload {
			return nil, limitError(v.walk.state.name)
		}
		text = value.AppendJSON(text)
	}
	return textValue(append(text, d.texts[len(d.queries)]...)), nil
}

// sizePerByte is more than what a byte of JSON can count for a value's size.
const sizePerByte = 16
