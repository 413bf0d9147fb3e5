package jsonata

import "slices"

// evaluate sorts the input. As a step of a path, it sorts all values of the previous step together.
func (n *sortNode) evaluate(r *run, input any, env *frame) (any, error) {
	return r.order(n, wrapped(input), env)
}

// order sorts values by the terms of an order-by.
func (r *run) order(n *sortNode, values *array, env *frame) (*array, error) {
	return r.sort(values, func(a, b any) (bool, error) {
		for _, term := range n.terms {
			x, err := r.term(term.by, a, env)
			if err != nil {
				return false, err
			}
			y, err := r.term(term.by, b, env)
			if err != nil {
				return false, err
			}
			order, err := n.compare(x, y)
			if err != nil {
				return false, err
			}
			if order != 0 {
				// Undefined values come last in either direction.
				return order > 0 != (term.descending && x != nil && y != nil), nil
			}
		}
		return false, nil
	})
}

func (r *run) term(by node, item any, env *frame) (any, error) {
	if t, ok := item.(*tuple); ok {
		return r.evaluate(by, t.value, t.frame(env))
	}
	return r.evaluate(by, item, env)
}

func (n *sortNode) compare(x, y any) (int, error) {
	a, xNumber := number(x)
	b, yNumber := number(y)
	s, xText := x.(string)
	t, yText := y.(string)
	switch {
	case x == nil && y == nil:
		return 0, nil
	case x == nil:
		return 1, nil
	case y == nil:
		return -1, nil
	case !xNumber && !xText:
		return 0, &fault{code: "T2008", at: n.at, placed: true, value: x}
	case !yNumber && !yText:
		return 0, &fault{code: "T2008", at: n.at, placed: true, value: y}
	case xNumber != yNumber:
		return 0, &fault{code: "T2007", at: n.at, placed: true, value: x, value2: y}
	case xText:
		return compareText(s, t), nil
	case a < b:
		return -1, nil
	case a > b:
		return 1, nil
	}
	return 0, nil
}

// sort sorts values. Values of equal rank keep their order.
func (r *run) sort(values *array, behind func(a, b any) (bool, error)) (*array, error) {
	if len(values.items) <= 1 {
		return values, nil
	}
	items, err := r.mergeSort(slices.Clone(values.items), make([]any, len(values.items)), behind)
	if err != nil {
		return nil, err
	}
	return &array{items: items, extent: values.extent, tuples: values.tuples, sequence: values.tuples}, nil
}

// mergeSort sorts items with a buffer of the same length. It compares in the order
// of the reference implementation, because a comparison may be a user's function.
func (r *run) mergeSort(items, buffer []any, behind func(a, b any) (bool, error)) ([]any, error) {
	if len(items) <= 1 {
		return items, nil
	}
	middle := len(items) / 2
	left, err := r.mergeSort(items[:middle], buffer[:middle], behind)
	if err != nil {
		return nil, err
	}
	right, err := r.mergeSort(items[middle:], buffer[middle:], behind)
	if err != nil {
		return nil, err
	}
	merged := buffer[:0]
	for len(left) > 0 && len(right) > 0 {
		if r.work(1); r.broken != nil {
			return nil, r.broken
		}
		swap, err := behind(left[0], right[0])
		if err != nil {
			return nil, err
		}
		if swap {
			merged, right = append(merged, right[0]), right[1:]
		} else {
			merged, left = append(merged, left[0]), left[1:]
		}
	}
	merged = append(append(merged, left...), right...)
	return items[:copy(items, merged)], nil
}
