package jsonata

import "math"

func (n *pathNode) evaluate(r *run, input any, env *frame) (any, error) {
	if n.group != nil || n.keepSingleton {
		return n.finish(r, 0, n.beginning(input), env)
	}
	first, rest, v, err := n.straight(r, input, env)
	if rest == nil {
		return v, err
	}
	return n.finish(r, first, rest, env)
}

// finish takes values through the steps from the first one given, and returns the result of the path.
func (n *pathNode) finish(r *run, first int, values *array, env *frame) (any, error) {
	result, tuples, err := n.walk(r, first, values, env)
	if err != nil {
		return nil, err
	}
	if tuples != nil {
		if result = tuples; !n.tuple {
			result = emptySequence()
			for _, item := range tuples.items {
				result.push(tupleOf(item).value)
			}
		}
	}
	if n.keepSingleton && result != nil {
		if result.cons && !result.sequence {
			result = sequenceOf(result)
		}
		if result.sequence {
			result.keepSingleton = true
		}
	}
	if n.group != nil {
		if tuples != nil {
			return r.group(n.group, tuples, env)
		}
		return r.group(n.group, asValue(result), env)
	}
	return asValue(result), nil
}

// beginning returns the values for which the first step is taken: each of an array. A variable is looked up once.
func (n *pathNode) beginning(input any) *array {
	if isVariable(n.steps[0]) {
		return sequenceOf(input)
	}
	return wrapped(input)
}

// asValue converts an array, which may be nil, to a value.
func asValue(a *array) any {
	if a == nil {
		return nil
	}
	return a
}

// straight follows the first steps of a path while each takes one value to one value, as in the usual case
// $states.input.order.id. It is a faster form of walk. It returns the result of the path, or the step and the values at
// which walk must continue.
func (n *pathNode) straight(r *run, input any, env *frame) (first int, rest *array, v any, err error) {
	if _, ok := input.(*array); ok && !isVariable(n.steps[0]) {
		return 0, n.beginning(input), nil, nil
	}
	for i, step := range n.steps {
		_, isName := step.(*nameNode)
		if c := step.common(); c.tuple || len(c.stages) > 0 || !isName && !isVariable(step) {
			return i, sequenceOf(input), nil, nil
		}
		if input, err = r.evaluate(step, input, env); err != nil || input == nil {
			return 0, nil, nil, err
		}
		a, ok := input.(*array)
		last := i == len(n.steps)-1
		switch {
		case !ok || last && !a.sequence:
		case len(a.items) == 0:
			return 0, nil, nil, nil
		case a.cons && !last:
			return i + 1, sequenceOf(a), nil, nil
		default:
			flat := &array{items: a.items, extent: a.extent, sequence: true}
			if last {
				return 0, nil, flat, nil
			}
			return i + 1, flat, nil, nil
		}
	}
	return 0, nil, input, nil
}

func isVariable(n node) bool {
	_, ok := n.(*variableNode)
	return ok
}

// walk takes values through the steps of a path. From the first step that needs bindings, the values are tuples.
func (n *pathNode) walk(r *run, first int, values *array, env *frame) (result, tuples *array, err error) {
	followed := false
	for i := first; i < len(n.steps); i++ {
		step := n.steps[i]
		c := step.common()
		followed = followed || c.tuple
		switch {
		case i == 0 && c.cons:
			v, err := r.evaluate(step, values, env)
			if err != nil {
				return nil, nil, err
			}
			if result, _ = v.(*array); result == nil && v != nil {
				result = sequenceOf(v)
			}
		case followed:
			tuples, err = r.tupleStep(step, values, tuples, env)
		default:
			result, err = r.step(step, values, env, i == len(n.steps)-1)
		}
		if err != nil {
			return nil, nil, err
		}
		if !followed && (result == nil || len(result.items) == 0) {
			break
		}
		if c.focus == "" && result != nil {
			values = result
		}
	}
	return result, tuples, nil
}

// step takes each value through a step and gathers the results.
func (r *run) step(n node, input *array, env *frame, last bool) (*array, error) {
	c := n.common()
	if sorting, ok := n.(*sortNode); ok {
		sorted, err := r.order(sorting, input, env)
		if err != nil {
			return nil, err
		}
		return r.stages(c.stages, sorted, env)
	}
	results := make([]any, 0, len(input.items))
	for _, item := range input.items {
		v, err := r.evaluate(n, item, env)
		if err != nil {
			return nil, err
		}
		for _, s := range c.stages {
			kept, err := r.filter(s.predicate, v, env)
			if err != nil {
				return nil, err
			}
			v = kept
		}
		if v != nil {
			results = append(results, v)
		}
	}
	if last && len(results) == 1 {
		if a, ok := results[0].(*array); ok && !a.sequence {
			return a, nil
		}
	}
	out := emptySequence()
	for _, v := range results {
		if a, ok := v.(*array); ok && !a.cons {
			r.pushAll(out, a)
		} else {
			out.push(v)
		}
		if r.made(out); r.broken != nil {
			return nil, r.broken
		}
	}
	return out, nil
}

// stages applies the predicates after a step to all its values, and binds their positions.
func (r *run) stages(stages []stage, values *array, env *frame) (*array, error) {
	for _, s := range stages {
		if s.predicate == nil {
			for i, item := range values.items {
				if t, ok := item.(*tuple); ok {
					t.bind(s.index, float64(i))
				}
			}
			continue
		}
		kept, err := r.filter(s.predicate, values, env)
		if err != nil {
			return nil, err
		}
		values = kept
	}
	return values, nil
}

// tupleStep is step for values with bindings.
func (r *run) tupleStep(n node, input, tuples *array, env *frame) (*array, error) {
	c := n.common()
	if sorting, ok := n.(*sortNode); ok {
		if tuples == nil {
			return r.sortedTuples(sorting, input, env)
		}
		sorted, err := r.order(sorting, tuples, env)
		if err != nil {
			return nil, err
		}
		return r.stages(c.stages, sorted, env)
	}
	if tuples == nil {
		tuples = &array{sequence: true, tuples: true}
		for _, item := range input.items {
			tuples.push((&tuple{}).with(item))
		}
	}
	out := &array{sequence: true, tuples: true}
	for _, item := range tuples.items {
		t := tupleOf(item)
		v, err := r.evaluate(n, t.value, t.frame(env))
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		values, ok := v.(*array)
		if !ok {
			values = sequenceOf(v)
		}
		for i, value := range values.items {
			r.work(1 + len(t.names))
			out.push(c.bound(t, value, i))
		}
		if r.made(out); r.broken != nil {
			return nil, r.broken
		}
	}
	return r.stages(c.stages, out, env)
}

// sortedTuples begins a stream of tuples with a sort.
func (r *run) sortedTuples(n *sortNode, input *array, env *frame) (*array, error) {
	sorted, err := r.order(n, input, env)
	if err != nil {
		return nil, err
	}
	out := &array{sequence: true, tuples: true}
	for i, v := range sorted.items {
		t := (&tuple{}).with(v)
		if n.common().index != "" {
			t.bind(n.common().index, float64(i))
		}
		out.push(t)
	}
	return r.stages(n.common().stages, out, env)
}

// bound returns the tuple of value i that a step returned for a tuple.
func (c *base) bound(from *tuple, value any, i int) *tuple {
	if inner, ok := value.(*tuple); ok { // of a path within the step
		var bindings []binding
		for j, name := range inner.names {
			bindings = append(bindings, binding{name, inner.values[j]})
		}
		return from.with(inner.value, bindings...)
	}
	var bindings []binding
	at := value
	if c.focus != "" {
		bindings = append(bindings, binding{c.focus, value})
		at = from.value
	}
	if c.index != "" {
		bindings = append(bindings, binding{c.index, float64(i)})
	}
	if c.ancestor != nil {
		bindings = append(bindings, binding{c.ancestor.label, from.value})
	}
	return from.with(at, bindings...)
}

// filter keeps the values for which a predicate holds, or whose position it returns.
func (r *run) filter(predicate node, input any, env *frame) (*array, error) {
	values, ok := input.(*array)
	if !ok {
		values = sequenceOf(input)
	}
	out := &array{sequence: true, tuples: values.tuples}
	if literal, ok := predicate.(*literalNode); ok {
		if n, ok := literal.value.(float64); ok {
			if i := position(n, len(values.items)); i >= 0 && values.items[i] != nil {
				if a, ok := values.items[i].(*array); ok {
					return a, nil
				}
				out.push(values.items[i])
			}
			return out, nil
		}
	}
	for i, item := range values.items {
		context, scope := item, env
		if t, ok := item.(*tuple); ok {
			context, scope = t.value, t.frame(env)
		}
		v, err := r.evaluate(predicate, context, scope)
		if err != nil {
			return nil, err
		}
		keep, err := r.chosen(v, i, len(values.items))
		if err != nil {
			return nil, err
		}
		for range keep {
			out.push(item)
		}
	}
	return out, nil
}

// chosen returns how often a predicate with the result v chooses value i of n.
func (r *run) chosen(v any, i, n int) (int, error) {
	number, ok, err := numeric(v)
	if err != nil {
		return 0, err
	}
	if ok {
		if position(number, n) == i {
			return 1, nil
		}
		return 0, nil
	}
	if positions, ok := v.(*array); ok {
		times, all := 0, true
		for _, item := range positions.items {
			r.work(1)
			number, ok, err := numeric(item)
			if err != nil {
				return 0, err
			}
			if all = all && ok; ok && position(number, n) == i {
				times++
			}
		}
		if all {
			return times, nil
		}
	}
	ok, err = truth(v)
	if ok {
		return 1, err
	}
	return 0, err
}

// position returns the index in an array that a number means, or -1. Negative numbers count from the end.
func position(n float64, length int) int {
	n = math.Floor(n)
	if n < 0 {
		n += float64(length)
	}
	if n < 0 || n >= float64(length) {
		return -1
	}
	return int(n)
}
