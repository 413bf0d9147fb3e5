package jsonata

// Functions on objects.

func keys(r *run, args []any) (any, error) {
	out := emptySequence()
	r.keys(args[0], out, map[string]bool{})
	return out, nil
}

// keys adds the names of an object's members, or of the members of each object of an array. It adds each name once.
func (r *run) keys(v any, out *array, known map[string]bool) {
	switch v := v.(type) {
	case *array:
		for _, item := range v.items {
			if r.work(1); r.broken != nil {
				return
			}
			r.keys(item, out, known)
		}
	case *object:
		r.work(len(v.names))
		for _, name := range v.names {
			if !known[name] {
				known[name] = true
				out.push(name)
			}
		}
	}
}

func lookupMember(r *run, args []any) (any, error) {
	name, _ := argument[string](args, 1)
	return r.lookup(args[0], name), nil
}

func spread(r *run, args []any) (any, error) {
	switch v := args[0].(type) {
	case *array:
		out := emptySequence()
		r.spread(v, out)
		return out, nil
	case *object:
		out := emptySequence()
		r.spread(v, out)
		return out, nil
	}
	return args[0], nil
}

// spread adds an object for each member.
func (r *run) spread(v any, out *array) {
	if r.work(1); r.broken != nil {
		return
	}
	switch v := v.(type) {
	case *array:
		out.sequence = out.sequence && len(v.items) == 0
		for _, item := range v.items {
			r.spread(item, out)
		}
	case *object:
		for i, name := range v.names {
			r.work(4)
			o := &object{}
			o.set(name, v.values[i])
			out.push(o)
		}
		r.made(out)
	case nil:
	default:
		out.push(v)
	}
}

func merge(r *run, args []any) (any, error) {
	list, ok := argument[*array](args, 0)
	if !ok {
		return undefined, nil
	}
	out := &object{}
	for _, item := range list.items {
		o, _ := item.(*object)
		if o == nil {
			continue
		}
		for i, name := range o.names {
			r.work(1)
			out.set(name, o.values[i])
		}
		if r.made(out); r.broken != nil {
			return nil, r.broken
		}
	}
	return out, nil
}

func each(r *run, args []any) (any, error) {
	out := emptySequence()
	o, _ := argument[*object](args, 0)
	if o == nil {
		return out, nil
	}
	f, _ := argument[function](args, 1)
	for i, name := range o.names {
		v, err := r.callback(f, o.values[i], name, o)
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

func sift(r *run, args []any) (any, error) {
	o, _ := argument[*object](args, 0)
	f, ok := argument[function](args, 1)
	if o == nil || !ok {
		return undefined, nil
	}
	out := &object{}
	for i, name := range o.names {
		v, err := r.callback(f, o.values[i], name, o)
		if err != nil {
			return nil, err
		}
		keep, err := truth(v)
		if err != nil {
			return nil, err
		}
		if keep {
			out.set(name, o.values[i])
		}
	}
	if len(out.names) == 0 {
		return undefined, nil
	}
	return out, nil
}

func clone(r *run, args []any) (any, error) {
	if args[0] == nil {
		return undefined, nil
	}
	if err := finite(args[0]); err != nil {
		return nil, err
	}
	v := r.copy(args[0])
	return v, r.failed(nil)
}
