package saga

import (
	"iter"
	"slices"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// get returns a member that is an object; else nil.
func get(o *object, name string) *object {
	v, _ := o.Get(name)
	found, _ := v.(*object)
	return found
}

// text returns a member that is a text; else "".
func text(o *object, name string) string {
	v, _ := o.Get(name)
	found, _ := v.(string)
	return found
}

// has reports whether an object has a member.
func has(o *object, name string) bool {
	_, ok := o.Get(name)
	return ok
}

// statesOf returns the states of a level.
func statesOf(level *object) iter.Seq2[string, *object] {
	return func(yield func(string, *object) bool) {
		for name, v := range get(level, "States").All() {
			if state, is := v.(*object); is && !yield(name, state) {
				return
			}
		}
	}
}

// list returns a member that is an array; else nil.
func list(o *object, name string) []any {
	v, _ := o.Get(name)
	found, _ := v.([]any)
	return found
}

// mapped returns an array of objects, each changed.
func mapped(array []any, change func(*object) *object) []any {
	out := make([]any, len(array))
	for i, v := range array {
		o, _ := v.(*object)
		out[i] = change(o)
	}
	return out
}

// only returns a copy of an object with the members of some names.
func only(o *object, names ...string) *object {
	out := jsontext.NewOrderedMap(len(names))
	for _, name := range names {
		if v, ok := o.Get(name); ok {
			out.Set(name, v)
		}
	}
	return out
}

// except returns a copy of an object without the members of some names.
func except(o *object, names ...string) *object {
	out := jsontext.NewOrderedMap(o.Len())
	for name, v := range o.All() {
		if !slices.Contains(names, name) {
			out.Set(name, v)
		}
	}
	return out
}
