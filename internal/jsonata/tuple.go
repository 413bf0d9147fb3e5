package jsonata

// A tuple is one value of a path with the bindings of the steps so far: the positions and contexts that # and @ name,
// and the parents of %.
type tuple struct {
	value  any
	names  []string
	values []any
	size   int
}

// with returns the tuple for a value of a step, with the step's bindings.
func (t *tuple) with(value any, bindings ...binding) *tuple {
	out := &tuple{value: value, names: append([]string(nil), t.names...), values: append([]any(nil), t.values...)}
	for _, b := range bindings {
		out.bind(b.name, b.value)
	}
	out.size = sizeOf(value)
	for _, v := range out.values {
		out.size += sizeOf(v)
	}
	return out
}

// tupleOf returns an item of an array of tuples.
func tupleOf(item any) *tuple {
	t, _ := item.(*tuple)
	return t
}

type binding struct {
	name  string
	value any
}

func (t *tuple) bind(name string, v any) {
	for i, n := range t.names {
		if n == name {
			t.values[i] = v
			return
		}
	}
	t.names, t.values = append(t.names, name), append(t.values, v)
}

// frame returns the variables that an expression sees with the tuple.
func (t *tuple) frame(env *frame) *frame {
	return &frame{outer: env, names: append([]string(nil), t.names...), values: append([]any(nil), t.values...)}
}
