package jsontext

import (
	"encoding/json"
	"iter"
	"slices"
)

// An OrderedMap is a JSON object of a tree. Its members keep the order in which they were written. Once built, it does
// not change, and any number of goroutines may read it. A nil OrderedMap has no members.
type OrderedMap struct {
	fields []field
	places map[string]int // index in fields, if there are many; else nil
}

type field struct {
	name  string
	value any
}

// fewFields is the maximum number of members that Get searches without an index.
const fewFields = 8

// NewOrderedMap returns an object with capacity for some members.
func NewOrderedMap(capacity int) *OrderedMap { return &OrderedMap{fields: make([]field, 0, capacity)} }

// OrderedMapOf returns an object. The arguments are names and values in turn.
func OrderedMapOf(pairs ...any) *OrderedMap {
	o := NewOrderedMap(len(pairs) / 2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		o.Set(name, pairs[i+1])
	}
	return o
}

// Len returns the number of members.
func (o *OrderedMap) Len() int {
	if o == nil {
		return 0
	}
	return len(o.fields)
}

// Get returns a member, and whether it exists.
func (o *OrderedMap) Get(name string) (any, bool) {
	if i := o.place(name); i >= 0 {
		return o.fields[i].value, true
	}
	return nil, false
}

func (o *OrderedMap) place(name string) int {
	switch {
	case o == nil:
		return -1
	case o.places != nil:
		if i, ok := o.places[name]; ok {
			return i
		}
		return -1
	}
	for i := range o.fields {
		if o.fields[i].name == name {
			return i
		}
	}
	return -1
}

// Set sets a member. A new member goes to the end.
func (o *OrderedMap) Set(name string, value any) {
	if i := o.place(name); i >= 0 {
		o.fields[i].value = value
		return
	}
	o.fields = append(o.fields, field{name, value})
	switch {
	case o.places != nil:
		o.places[name] = len(o.fields) - 1
	case len(o.fields) > fewFields:
		o.places = make(map[string]int, 2*len(o.fields))
		for i := range o.fields {
			o.places[o.fields[i].name] = i
		}
	}
}

// With returns a copy in which one member has another value.
func (o *OrderedMap) With(name string, value any) *OrderedMap {
	c := NewOrderedMap(o.Len() + 1)
	for n, v := range o.All() {
		c.Set(n, v)
	}
	c.Set(name, value)
	return c
}

// All returns the members in their order.
func (o *OrderedMap) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if o == nil {
			return
		}
		for i := range o.fields {
			if !yield(o.fields[i].name, o.fields[i].value) {
				return
			}
		}
	}
}

// Names returns the names of the members, sorted.
func (o *OrderedMap) Names() []string {
	names := make([]string, 0, o.Len())
	for name := range o.All() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// MarshalJSON writes the members in their order.
func (o *OrderedMap) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for name, value := range o.All() {
		if len(b) > 1 {
			b = append(b, ',')
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		b = append(append(AppendString(b, name), ':'), text...)
	}
	return append(b, '}'), nil
}
