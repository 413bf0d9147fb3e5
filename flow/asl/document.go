package asl

import (
	"github.com/ebbflow/ebb/atom"
)

// A document is a payload in JSONata: the text of a JSON value with queries in
// it. Members keep their order.
type document struct {
	texts   []string // before each query, and behind the last
	queries []*query
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
