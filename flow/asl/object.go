package asl

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// An object is a JSON object that is being written, member by member, in the
// order of the calls.
type object struct{ b []byte }

func (o *object) name(name string) {
	if o.b == nil {
		o.b = append(make([]byte, 0, 128), atom.CodecJSON, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(appendString(o.b, name), ':')
}

func (o *object) text(name, value string) {
	o.name(name)
	o.b = appendString(o.b, value)
}

func (o *object) integer(name string, value int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, value, 10)
}

func (o *object) time(name string, value time.Time) {
	o.name(name)
	o.b = append(o.b, '"')
	o.b = value.AppendFormat(o.b, time.RFC3339Nano)
	o.b = append(o.b, '"')
}

// datum writes a value if there is one.
func (o *object) datum(name string, value *datum) {
	if value != nil {
		o.name(name)
		o.b = append(o.b, value.encoded().JSON()...)
	}
}

// integers and counts write a list or an object of numbers if it is not empty.
func (o *object) integers(name string, values []int) {
	if len(values) == 0 {
		return
	}
	o.name(name)
	for i, value := range values {
		o.b = strconv.AppendInt(append(o.b, opening('[', i)), int64(value), 10)
	}
	o.b = append(o.b, ']')
}

func (o *object) counts(name string, values map[string]int) {
	if len(values) == 0 {
		return
	}
	o.name(name)
	for i, key := range slices.Sorted(maps.Keys(values)) {
		o.b = append(appendString(append(o.b, opening('{', i)), key), ':')
		o.b = strconv.AppendInt(o.b, int64(values[key]), 10)
	}
	o.b = append(o.b, '}')
}

// data writes an object of values if it is not empty.
func (o *object) data(name string, values map[string]*datum) {
	if len(values) > 0 {
		o.name(name)
		o.b = appendData(o.b, values)
	}
}

// appendData appends an object of values.
func appendData(b []byte, values map[string]*datum) []byte {
	if len(values) == 0 {
		return append(b, '{', '}')
	}
	for i, name := range slices.Sorted(maps.Keys(values)) {
		b = append(appendString(append(b, opening('{', i)), name), ':')
		b = append(b, values[name].encoded().JSON()...)
	}
	return append(b, '}')
}

// opening returns what stands before element i.
func opening(bracket byte, i int) byte {
	if i == 0 {
		return bracket
	}
	return ','
}

// value returns the object, nil if nothing was written.
func (o *object) value() atom.Value {
	if o.b == nil {
		return nil
	}
	return atom.Value(append(o.b, '}'))
}
