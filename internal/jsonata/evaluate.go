package jsonata

func (n *literalNode) evaluate(*run, any, *frame) (any, error) { return n.value, nil }

func (n *variableNode) evaluate(_ *run, input any, env *frame) (any, error) {
	if n.name != "" {
		return env.lookup(n.name), nil
	}
	if a, ok := input.(*array); ok && a.outer {
		return a.items[0], nil
	}
	return input, nil
}

func (n *nameNode) evaluate(r *run, input any, _ *frame) (any, error) {
	return r.lookup(input, n.name), nil
}

func (n *parentNode) evaluate(_ *run, _ any, env *frame) (any, error) {
	return env.lookup(n.slot.label), nil
}

func (n *regexNode) evaluate(*run, any, *frame) (any, error) { return &matcher{regex: n.regex}, nil }

// lookup returns a member of an object, or of each object of an array.
func (r *run) lookup(input any, name string) any {
	switch v := input.(type) {
	case *object:
		return v.get(name)
	case *array:
		out := emptySequence()
		for _, item := range v.items {
			if r.work(1); r.broken != nil {
				break
			}
			switch found := r.lookup(item, name).(type) {
			case nil:
			case *array:
				r.pushAll(out, found)
			default:
				out.push(found)
			}
		}
		return out
	}
	return nil
}

func (n *wildcardNode) evaluate(r *run, input any, _ *frame) (any, error) {
	if a, ok := input.(*array); ok && a.outer && len(a.items) > 0 {
		input = a.items[0]
	}
	out := emptySequence()
	var values []any
	switch v := input.(type) {
	case *object:
		values = v.values
	case *array:
		values = v.items
	}
	for _, value := range values {
		if _, ok := value.(*array); ok {
			out.sequence = false // a sequence that was in an array stays a sequence
		}
		r.flatten(value, out)
	}
	return out, nil
}

// flatten appends a value or, at any depth, the items of an array.
func (r *run) flatten(v any, out *array) {
	a, ok := v.(*array)
	if !ok {
		out.push(v)
		return
	}
	for _, item := range a.items {
		if r.work(1); r.broken != nil {
			return
		}
		r.flatten(item, out)
	}
}

func (n *descendantNode) evaluate(r *run, input any, _ *frame) (any, error) {
	if input == nil {
		return undefined, nil
	}
	out := emptySequence()
	r.descend(input, out)
	if len(out.items) == 1 {
		return out.items[0], nil
	}
	return out, nil
}

// descend appends a value that is not an array, and all values below it. The size of each value counts, so a deep
// value soon exceeds the limit.
func (r *run) descend(v any, out *array) {
	if r.work(1); out.size > MaxSize {
		r.stop(errSize)
	}
	if r.broken != nil {
		return
	}
	inside := []any(nil)
	switch v := v.(type) {
	case *array:
		inside = v.items
	case *object:
		out.push(v)
		inside = v.values
	default:
		out.push(v)
	}
	for _, item := range inside {
		r.descend(item, out)
	}
}

func (n *negateNode) evaluate(r *run, input any, env *frame) (any, error) {
	v, err := r.evaluate(n.operand, input, env)
	if v == nil || err != nil {
		return nil, err
	}
	number, ok, err := numeric(v)
	if err == nil && !ok {
		err = &fault{code: "D1002", at: n.at, placed: true, token: "-", value: v}
	}
	return -number, err
}

func (n *arrayNode) evaluate(r *run, input any, env *frame) (any, error) {
	out := &array{cons: n.cons}
	for _, item := range n.items {
		v, err := r.evaluate(item, input, env)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		a, isArray := v.(*array)
		if _, literal := item.(*arrayNode); !isArray || literal {
			out.push(v)
		} else {
			r.pushAll(out, a)
		}
		if r.made(out); r.broken != nil {
			return nil, r.broken
		}
	}
	return out, nil
}

func (n *objectNode) evaluate(r *run, input any, env *frame) (any, error) {
	return r.group(&n.members, input, env)
}

func (n *bindNode) evaluate(r *run, input any, env *frame) (any, error) {
	v, err := r.evaluate(n.value, input, env)
	if err == nil {
		env.bind(n.name, v)
	}
	return v, err
}

func (n *conditionNode) evaluate(r *run, input any, env *frame) (any, error) {
	v, err := r.evaluate(n.condition, input, env)
	if err != nil {
		return nil, err
	}
	ok, err := truth(v)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return r.evaluate(n.then, input, env)
	case n.otherwise != nil:
		return r.evaluate(n.otherwise, input, env)
	}
	return undefined, nil
}

func (n *blockNode) evaluate(r *run, input any, env *frame) (v any, err error) {
	inside := &frame{outer: env}
	for _, part := range n.parts {
		if v, err = r.evaluate(part, input, inside); err != nil {
			return nil, err
		}
	}
	return v, nil
}
