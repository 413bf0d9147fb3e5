package jsonata

func (n *transformNode) evaluate(_ *run, _ any, env *frame) (any, error) {
	return &native{parameters: 1, signature: transformSignature, do: func(r *run, args []any) (any, error) {
		return n.apply(r, args[0], env)
	}}, nil
}

var transformSignature = mustSignature("<(oa):o>")

// apply returns a copy of a value. It updates the parts of the copy that the pattern matches.
func (n *transformNode) apply(r *run, v any, env *frame) (any, error) {
	if v == nil {
		return undefined, nil
	}
	clone := env.lookup("clone")
	if !isFunction(clone) {
		return nil, &fault{code: "T2013", at: n.at, placed: true}
	}
	copied, err := r.apply(clone, []any{v}, nil)
	if err != nil {
		return nil, err
	}
	found, err := r.evaluate(n.pattern, copied, env)
	if err != nil || found == nil {
		return copied, err
	}
	left := MaxSize
	for _, match := range wrapped(found).items {
		if err := n.change(r, match, &left, env); err != nil {
			return nil, err
		}
	}
	r.measure(copied, 0)
	return copied, r.failed(nil)
}

// change updates one object in place. The members that it adds must fit into left bytes.
func (n *transformNode) change(r *run, match any, left *int, env *frame) error {
	o, isObject := match.(*object)
	update, err := r.evaluate(n.update, match, env)
	if err != nil {
		return err
	}
	members, ok := update.(*object)
	if update != nil && !ok {
		return &fault{code: "T2011", at: n.update.common().at, placed: true, value: update}
	}
	if ok && isObject {
		if *left -= sizeOf(members); *left < 0 {
			r.stop(errSize)
		}
		for i, name := range members.names {
			o.set(name, r.copy(members.values[i])) // a value may contain o itself
		}
	}
	if n.remove == nil {
		return r.failed(nil)
	}
	names, err := r.evaluate(n.remove, match, env)
	if err != nil || names == nil {
		return err
	}
	list := wrapped(names)
	if !arrayOf(list, isString) {
		return &fault{code: "T2012", at: n.remove.common().at, placed: true, value: names}
	}
	if isObject {
		for _, name := range list.items {
			r.work(1 + len(o.names)/bytesPerStep)
			member, _ := name.(string)
			o.remove(member)
		}
	}
	return r.failed(nil)
}

// copy returns a value that shares no mutable part with v.
func (r *run) copy(v any) any {
	if r.work(1); r.broken != nil {
		return v
	}
	switch v := v.(type) {
	case *array:
		out := &array{items: make([]any, len(v.items)), extent: v.extent}
		for i, item := range v.items {
			out.items[i] = r.copy(item)
		}
		return out
	case *object:
		out := &object{}
		for i, name := range v.names {
			out.set(name, r.copy(v.values[i]))
		}
		return out
	case function:
		return ""
	case float64:
		return fifteen(v)
	}
	return v
}

// measure computes the size of a value after its parts have changed.
func (r *run) measure(v any, depth int) {
	if r.work(1); depth > maxNesting {
		r.stop(errSize)
	}
	if r.broken != nil {
		return
	}
	switch v := v.(type) {
	case *array:
		v.extent = extent{}
		for _, item := range v.items {
			r.measure(item, depth+1)
			v.grow(item)
		}
		r.made(v)
	case *object:
		v.extent = extent{}
		for i, value := range v.values {
			r.measure(value, depth+1)
			v.size += len(v.names[i])
			v.grow(value)
		}
		r.made(v)
	}
}
