package jsonata

import "slices"

// A share holds the values that belong to one member.
type share struct {
	name string
	pair int
	one  any    // the first value
	all  *array // all values, if there are several
}

func (s *share) add(r *run, v any) {
	if s.all == nil {
		s.all = &array{}
		r.pushAll(s.all, wrapped(s.one))
	}
	r.pushAll(s.all, wrapped(v))
}

func (s *share) value() any {
	if s.all == nil {
		return s.one
	}
	return s.all
}

// group builds an object. The first expression of a pair gives each value a name. For each name, the second expression
// is evaluated on all values of that name.
func (r *run) group(g *grouping, input any, env *frame) (any, error) {
	values := wrapped(input)
	if len(values.items) == 0 {
		values = sequenceOf(nil)
	}
	shares, err := r.shares(g, values, env)
	if err != nil {
		return nil, err
	}
	out := &object{}
	for i := range shares {
		s := &shares[i]
		context, scope := s.value(), env
		if values.tuples {
			t := s.tuple(r)
			context, scope = t.value, t.frame(env)
		}
		v, err := r.evaluate(g.pairs[s.pair][1], context, scope)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out.set(s.name, v)
		}
		if r.made(out); r.broken != nil {
			return nil, r.broken
		}
	}
	return out, nil
}

func (r *run) shares(g *grouping, values *array, env *frame) ([]share, error) {
	var shares []share
	known := map[string]int{}
	for _, item := range values.items {
		context, scope := item, env
		if t, ok := item.(*tuple); ok {
			context, scope = t.value, t.frame(env)
		}
		for i, pair := range g.pairs {
			v, err := r.evaluate(pair[0], context, scope)
			if err != nil {
				return nil, err
			}
			name, ok := v.(string)
			if v != nil && !ok {
				return nil, &fault{code: "T1003", at: g.at, placed: true, value: v}
			}
			at, there := known[name]
			switch {
			case v == nil:
			case !there:
				known[name] = len(shares)
				shares = append(shares, share{name: name, pair: i, one: item})
			case shares[at].pair != i:
				return nil, &fault{code: "D1009", at: g.at, placed: true, value: name}
			default:
				shares[at].add(r, item)
				r.made(shares[at].all)
			}
		}
	}
	return shares, r.failed(nil)
}

// tuple joins the tuples of a share. A name that several of them bind is bound to an array of all their values.
func (s *share) tuple(r *run) *tuple {
	if s.all == nil {
		return tupleOf(s.one)
	}
	first := tupleOf(s.all.items[0])
	out := &tuple{}
	value := share{one: first.value}
	bound := map[string]*share{}
	names := slices.Clip(first.names)
	for i, name := range first.names {
		bound[name] = &share{one: first.values[i]}
	}
	for _, item := range s.all.items[1:] {
		t := tupleOf(item)
		value.append(r, t.value)
		for i, name := range t.names {
			if bound[name] == nil {
				bound[name] = &share{}
				names = append(names, name)
			}
			bound[name].append(r, t.values[i])
		}
	}
	out.value = value.value()
	for _, name := range names {
		out.bind(name, bound[name].value())
	}
	return out
}

// append adds a value, unless the value is undefined.
func (s *share) append(r *run, v any) {
	switch {
	case v == nil:
	case s.all == nil && s.one == nil:
		s.one = v
	default:
		s.add(r, v)
	}
}
