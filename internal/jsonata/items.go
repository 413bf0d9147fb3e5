package jsonata

import (
	"math"
	"slices"
)

// Functions on arrays.

func count(_ *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok {
		return 0.0, nil
	}
	return float64(len(list.items)), nil
}

func mapItems(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok {
		return undefined, nil
	}
	f, _ := argument[function](args, 1)
	out := emptySequence()
	for i, item := range list.items {
		v, err := r.callback(f, item, float64(i), list)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out.push(v)
		}
		if r.made(out); r.broken != nil {
			return nil, r.broken
		}
	}
	return out, nil
}

func filterItems(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok {
		return undefined, nil
	}
	f, _ := argument[function](args, 1)
	out := emptySequence()
	for i, item := range list.items {
		v, err := r.callback(f, item, float64(i), list)
		if err != nil {
			return nil, err
		}
		keep, err := truth(v)
		if err != nil {
			return nil, err
		}
		if keep {
			out.push(item)
		}
	}
	return out, nil
}

func singleItem(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok {
		return undefined, nil
	}
	var only any
	found := false
	for i, item := range list.items {
		keep := true
		if f, ok := argument[function](args, 1); ok {
			v, err := r.callback(f, item, float64(i), list)
			if err != nil {
				return nil, err
			}
			if keep, err = truth(v); err != nil {
				return nil, err
			}
		}
		if keep && found {
			return nil, &fault{code: "D3138", index: i}
		}
		if keep {
			only, found = item, true
		}
	}
	if !found {
		return nil, &fault{code: "D3139"}
	}
	return only, nil
}

func reduce(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok {
		return undefined, nil
	}
	f, _ := argument[function](args, 1)
	if f.arity() < 2 {
		return nil, &fault{code: "D3050", index: 1}
	}
	items, result, first := list.items, args[2], 0
	if result == nil && len(items) > 0 {
		result, first = items[0], 1
	}
	for i := first; i < len(items); i++ {
		v, err := r.callback(f, result, items[i], float64(i), list)
		if err != nil {
			return nil, err
		}
		result = v
	}
	return result, nil
}

func zip(r *run, args []any) (any, error) {
	length := math.MaxInt
	for i := range args {
		list, ok := argument[*array](args, i)
		if !ok {
			length = 0
			break
		}
		length = min(length, len(list.items))
	}
	out := &array{}
	for i := range length {
		tuple := &array{}
		for _, arg := range args {
			tuple.push(wrapped(arg).items[i])
		}
		r.work(1 + len(args)/4)
		out.push(tuple)
		if r.made(out); r.broken != nil {
			return nil, r.broken
		}
	}
	return out, nil
}

func appendItems(r *run, args []any) (any, error) { return r.join(args[0], args[1]) }

// join returns the items of both, in order.
func (r *run) join(a, b any) (any, error) {
	if a == nil {
		return b, nil
	}
	if b == nil {
		return a, nil
	}
	if !r.make(sizeOf(a) + sizeOf(b)) {
		return nil, r.broken
	}
	out := &array{}
	r.pushAll(out, wrapped(a))
	r.pushAll(out, wrapped(b))
	return out, nil
}

func reverse(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok || len(list.items) <= 1 {
		return args[0], nil
	}
	r.work(len(list.items))
	items := slices.Clone(list.items)
	slices.Reverse(items)
	return &array{items: items, extent: list.extent}, nil
}

func sortItems(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok || len(list.items) <= 1 {
		return args[0], nil
	}
	if f, ok := argument[function](args, 1); ok {
		return r.sort(list, func(a, b any) (bool, error) {
			v, err := r.hand(f, a, b)
			return behind(v), err
		})
	}
	switch {
	case arrayOf(list, func(v any) bool { _, ok := number(v); return ok }):
		return r.sort(list, func(a, b any) (bool, error) {
			x, _ := number(a)
			y, _ := number(b)
			return x > y, nil
		})
	case arrayOf(list, isString):
		return r.sort(list, func(a, b any) (bool, error) {
			x, _ := a.(string)
			y, _ := b.(string)
			return compareText(x, y) > 0, nil
		})
	}
	return nil, &fault{code: "D3070", index: 1}
}

// behind reports whether the result of a user's comparison says that the order is wrong. Unlike in the language's own
// rules of truth, an array or object counts as true even if it is empty.
func behind(v any) bool {
	switch v := v.(type) {
	case nil, null:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0 && !math.IsNaN(v)
	}
	return true
}

func shuffle(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok || len(list.items) <= 1 {
		return args[0], nil
	}
	r.work(len(list.items))
	items := slices.Clone(list.items)
	for i := len(items) - 1; i > 0; i-- {
		j := int(r.uniform() * float64(i+1))
		items[i], items[j] = items[j], items[i]
	}
	return &array{items: items, extent: list.extent}, nil
}

func distinct(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok || len(list.items) <= 1 {
		return args[0], nil
	}
	out := &array{sequence: list.sequence}
	known := map[any]bool{}
	var containers []any // the arrays and objects found so far
	for _, item := range list.items {
		if r.work(1); r.broken != nil {
			return nil, r.broken
		}
		switch v := item.(type) {
		case *array, *object:
			if slices.ContainsFunc(containers, func(other any) bool { return r.equal(item, other) }) {
				continue
			}
			containers = append(containers, item)
		case long:
			if known[v] || known[float64(v)] {
				continue
			}
			known[v] = true
		default:
			if known[item] {
				continue
			}
			known[item] = true
		}
		out.push(item)
	}
	return out, nil
}
