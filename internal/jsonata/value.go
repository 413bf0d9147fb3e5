package jsonata

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Inside, a value is one of
//
//	nil         undefined: nothing is there
//	null        JSON's null, which is a value
//	bool
//	float64     a number; not finite ones occur
//	long        a whole number that a float64 would not hold exactly
//	string
//	*array
//	*object
//	function    see function.go
//
// and in the tuples of a path *tuple. Arrays and objects are not changed once
// they are complete, but for the private copy that a transform works on.
type null struct{}

// undefined is the absence of a value, such as a missing member.
var undefined any

// A long comes from JSON. It stays exact unless the expression calculates with it.
type long int64

// exact is the largest number up to which float64 represents each whole number.
const exact = 1 << 53

// An array is an array of the language. The result of a query is a sequence. A sequence of no values is undefined, and
// a sequence of one value is that value.
type array struct {
	items         []any
	extent             //
	sequence      bool //
	keepSingleton bool // a sequence of one value stays an array
	cons          bool // built by [ ] as a step of a path, so not flattened
	outer         bool // wraps the input, which is an array
	tuples        bool // the items are *tuple
}

// An object keeps its members in the order in which they were added.
type object struct {
	names  []string
	values []any
	index  map[string]int // nil while there are few members
	extent
}

// An extent is the size of the value that a container holds. A value that occurs twice counts twice, because the JSON
// text contains it twice.
type extent struct {
	size  int // see sizeOf
	depth int // nesting depth; removing an item does not lower it
}

func (e *extent) grow(v any) {
	e.size += sizeOf(v)
	e.depth = max(e.depth, depthOf(v)+1)
}

const fewMembers = 8

func (o *object) find(name string) int {
	if o.index != nil {
		if i, ok := o.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.Index(o.names, name)
}

// get returns a member, or nil.
func (o *object) get(name string) any {
	if i := o.find(name); i >= 0 {
		return o.values[i]
	}
	return nil
}

// set adds or replaces a member.
func (o *object) set(name string, value any) {
	if i := o.find(name); i >= 0 {
		o.size -= sizeOf(o.values[i])
		o.values[i] = value
	} else {
		o.size += len(name)
		o.names, o.values = append(o.names, name), append(o.values, value)
		switch {
		case o.index != nil:
			o.index[name] = len(o.names) - 1
		case len(o.names) > fewMembers:
			o.reindex()
		}
	}
	o.grow(value)
}

func (o *object) reindex() {
	if o.index = nil; len(o.names) > fewMembers {
		o.index = make(map[string]int, 2*len(o.names))
		for i, name := range o.names {
			o.index[name] = i
		}
	}
}

// remove takes a member out.
func (o *object) remove(name string) {
	if i := o.find(name); i >= 0 {
		o.size -= len(name) + sizeOf(o.values[i])
		o.names, o.values = slices.Delete(o.names, i, i+1), slices.Delete(o.values, i, i+1)
		o.reindex()
	}
}

// push adds a value to an array under construction.
func (a *array) push(v any) {
	a.items = append(a.items, v)
	a.grow(v)
}

// sequenceOf returns a sequence of one value.
func sequenceOf(v any) *array {
	a := &array{sequence: true}
	a.push(v)
	return a
}

func emptySequence() *array { return &array{sequence: true} }

// wrapped returns v if it is an array, else a sequence of v.
func wrapped(v any) *array {
	if a, ok := v.(*array); ok {
		return a
	}
	return sequenceOf(v)
}

// collapsed returns the value that a sequence stands for.
func collapsed(v any) any {
	a, ok := v.(*array)
	switch {
	case !ok || !a.sequence || a.tuples:
		return v
	case len(a.items) == 0:
		return nil
	case len(a.items) == 1 && !a.keepSingleton:
		return a.items[0]
	}
	return v
}

// settle makes the arrays of a result plain ones, as if their text was decoded. Those that are not plain are of this
// evaluation, since results of earlier ones are settled.
func settle(v any) {
	switch v := v.(type) {
	case *array:
		if v.sequence || v.cons {
			v.sequence, v.keepSingleton, v.cons, v.outer = false, false, false, false
		}
		for _, item := range v.items {
			settle(item)
		}
	case *object:
		for _, value := range v.values {
			settle(value)
		}
	}
}

const (
	scalarSize    = 8
	containerSize = 32
)

// sizeOf returns how much a value counts toward the memory limit. This is about the size of the value as JSON or in
// memory, whichever is smaller.
func sizeOf(v any) int {
	switch v := v.(type) {
	case nil:
		return 0
	case string:
		return len(v)
	case *array:
		return containerSize + v.size
	case *object:
		return containerSize + v.size
	case *tuple:
		return v.size
	}
	return scalarSize
}

func depthOf(v any) int {
	switch v := v.(type) {
	case *array:
		return v.depth
	case *object:
		return v.depth
	}
	return 0
}

// number returns a number's value.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case long:
		return float64(v), true
	}
	return 0, false
}

// numeric is like number, for functions that calculate with the result. An
// infinite number ends the evaluation. NaN does not count as a number.
func numeric(v any) (float64, bool, error) {
	n, ok := number(v)
	if ok && math.IsInf(n, 0) {
		return 0, false, &fault{code: "D1001", value: v}
	}
	return n, ok && !math.IsNaN(n), nil
}

// isInteger reports whether a number has no fraction.
func isInteger(n float64) bool { return n == math.Trunc(n) && !math.IsInf(n, 0) }

func isFunction(v any) bool {
	_, ok := v.(function)
	return ok
}

// arrayOf reports whether v is an array whose items all pass the test. An empty array passes.
func arrayOf(v any, is func(any) bool) bool {
	a, ok := v.(*array)
	return ok && !slices.ContainsFunc(a.items, func(item any) bool { return !is(item) })
}

func isString(v any) bool {
	_, ok := v.(string)
	return ok
}

// truth casts a value to a boolean. An undefined value counts as false.
func truth(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		return v != "", nil
	case *array:
		if len(v.items) == 1 {
			return truth(v.items[0])
		}
		for _, item := range v.items {
			if ok, err := truth(item); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case *object:
		return len(v.names) > 0, nil
	case float64, long:
		n, ok, err := numeric(v)
		return ok && n != 0, err
	case *lambda, *native: // objects with members in the reference implementation; regular expressions are not
		return true, nil
	}
	return false, nil
}

// equal compares two defined values by their content. The order of members does not matter.
func (r *run) equal(a, b any) bool {
	r.work(1)
	switch x := a.(type) {
	case float64, long:
		m, _ := number(a)
		n, ok := number(b)
		if p, both := a.(long); both {
			if q, both := b.(long); both {
				return p == q
			}
		}
		return ok && m == n
	case *array:
		y, ok := b.(*array)
		if x == y {
			return true
		}
		if !ok || len(x.items) != len(y.items) {
			return false
		}
		for i := range x.items {
			if !r.equal(x.items[i], y.items[i]) {
				return false
			}
		}
		return true
	case *object:
		y, ok := b.(*object)
		if x == y {
			return true
		}
		if !ok || len(x.names) != len(y.names) {
			return false
		}
		for i, name := range x.names {
			j := y.find(name)
			if j < 0 || !r.equal(x.values[i], y.values[j]) {
				return false
			}
		}
		return true
	case string:
		y, ok := b.(string)
		r.work(min(len(x), len(y)) / bytesPerStep)
		return ok && x == y
	}
	return a == b
}

// compareText orders texts by UTF-16 units, as the language does. So characters beyond U+FFFF come before those from
// U+E000 on.
func compareText(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && (continues(a, i) || continues(b, i)) {
		i-- // to the start of the differing character
	}
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	x, _ := utf8.DecodeRuneInString(a[i:])
	y, _ := utf8.DecodeRuneInString(b[i:])
	if (x > 0xffff) != (y > 0xffff) && max(x, y) > 0xffff && min(x, y) >= 0xe000 {
		return int(y) - int(x)
	}
	return int(x) - int(y)
}

// continues reports whether byte i of s continues a character.
func continues(s string, i int) bool { return i < len(s) && !utf8.RuneStart(s[i]) }
