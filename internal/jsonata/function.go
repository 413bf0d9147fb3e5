package jsonata

import (
	"slices"

	"github.com/ebbflow/ebb/internal/ecmaregexp"
)

// A function is a value that can be called.
type function interface {
	// arity is the number of arguments that the function has names for. Callers pass no more.
	arity() int
	// call calls the function with arguments that the signature accepts.
	call(r *run, args []any) (any, error)
	// accepts returns the arguments as the function receives them. If the signature allows it, the context replaces a
	// missing argument.
	accepts(r *run, args []any, context any) ([]any, error)
}

// A native is a function written in Go.
type native struct {
	name       string
	parameters int
	signature  *signature
	do         func(r *run, args []any) (any, error)
}

func (f *native) arity() int { return f.parameters }

func (f *native) call(r *run, args []any) (any, error) { return f.do(r, args) }

func (f *native) accepts(r *run, args []any, context any) ([]any, error) {
	return f.signature.validate(r, args, context)
}

// A lambda is a function that an expression defines.
type lambda struct {
	parameters []string
	signature  *signature // nil: accepts any arguments
	body       node
	input      any
	env        *frame
}

func (f *lambda) arity() int { return len(f.parameters) }

func (f *lambda) accepts(r *run, args []any, context any) ([]any, error) {
	if f.signature == nil {
		return args, nil
	}
	return f.signature.validate(r, args, context)
}

func (f *lambda) call(r *run, args []any) (any, error) {
	env := &frame{outer: f.env, names: slices.Clip(f.parameters), values: make([]any, len(f.parameters))}
	copy(env.values, args)
	return r.evaluate(f.body, f.input, env)
}

func (n *lambdaNode) evaluate(_ *run, input any, env *frame) (any, error) {
	return &lambda{n.parameters, n.signature, n.body, input, env}, nil
}

// A matcher is a regular expression, as a function that searches a text.
type matcher struct{ regex *ecmaregexp.Regexp }

func (f *matcher) arity() int                                       { return 2 }
func (f *matcher) accepts(_ *run, args []any, _ any) ([]any, error) { return args, nil }
func (f *matcher) call(r *run, args []any) (any, error) {
	if len(args) == 0 || args[0] == nil {
		return undefined, nil
	}
	text, err := r.text(args[0], false)
	if err != nil {
		return nil, err
	}
	from, _ := argument[float64](args, 1)
	m, err := r.find(f.regex, text, min(len(text), max(0, offsetOfUnit(text, from))))
	if m == nil || err != nil {
		return nil, err
	}
	return m.object(r), nil
}

// A partial is a function with some of its arguments fixed.
type partial struct {
	of    function
	fixed []any // of all parameters
	open  []int // the parameters that are not fixed
}

func (f *partial) arity() int { return len(f.open) }

func (f *partial) accepts(_ *run, args []any, _ any) ([]any, error) { return args, nil }

func (f *partial) call(r *run, args []any) (any, error) {
	all := slices.Clone(f.fixed)
	for i, at := range f.open {
		if i < len(args) {
			all[at] = args[i]
		}
	}
	all, err := f.of.accepts(r, all, nil)
	if err != nil {
		return nil, err
	}
	return f.of.call(r, all)
}

func (n *partialNode) evaluate(r *run, input any, env *frame) (any, error) {
	out := &partial{fixed: make([]any, len(n.arguments))}
	for i, argument := range n.arguments {
		if argument == nil {
			out.open = append(out.open, i)
			continue
		}
		v, err := r.evaluate(argument, input, env)
		if err != nil {
			return nil, err
		}
		out.fixed[i] = v
	}
	procedure, err := r.evaluate(n.procedure, input, env)
	if err != nil {
		return nil, err
	}
	of, ok := procedure.(function)
	if !ok {
		f := &fault{code: "T1008", at: n.at, placed: true, token: nameOf(n.procedure)}
		if procedure == nil && isPath(n.procedure) && env.lookup(nameText(n.procedure)) != nil {
			f.code = "T1007"
		}
		return nil, f
	}
	out.of = of
	return out, nil
}

// nameText returns the name under which an expression calls a function, or "".
func nameText(n node) string {
	switch n := n.(type) {
	case *variableNode:
		return n.name
	case *pathNode:
		if name, ok := n.steps[0].(*nameNode); ok {
			return name.name
		}
	}
	return ""
}

// nameOf is nameText for messages.
func nameOf(n node) any {
	if name := nameText(n); name != "" {
		return name
	}
	return nil
}

func isPath(n node) bool {
	_, ok := n.(*pathNode)
	return ok
}

func (n *callNode) evaluate(r *run, input any, env *frame) (any, error) {
	return n.invoke(r, nil, input, env)
}

// invoke calls a function. The first arguments are given.
func (n *callNode) invoke(r *run, first []any, input any, env *frame) (any, error) {
	procedure, err := r.evaluate(n.procedure, input, env)
	if err != nil {
		return nil, err
	}
	if procedure == nil && isPath(n.procedure) && env.lookup(nameText(n.procedure)) != nil {
		return nil, &fault{code: "T1005", at: n.at, placed: true, token: nameOf(n.procedure)}
	}
	args, err := n.evaluated(r, first, input, env)
	if err != nil {
		return nil, err
	}
	v, err := r.apply(procedure, args, input)
	return v, n.blamed(err)
}

func (n *callNode) evaluated(r *run, first []any, input any, env *frame) ([]any, error) {
	args := make([]any, len(first), len(first)+len(n.arguments))
	copy(args, first)
	for _, argument := range n.arguments {
		v, err := r.evaluate(argument, input, env)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return args, nil
}

// blamed adds the function to a fault, unless the fault already names a function inside.
func (n *callNode) blamed(err error) error {
	f, ok := err.(*fault) //nolint:errorlint // faults are never wrapped
	if !ok || f.code == LimitCode {
		return err
	}
	if !f.placed {
		f.at, f.placed = n.at, true
	}
	if f.token == nil {
		f.token = nameOf(n.procedure)
	}
	return f
}

// A thunk is a call that has not been made yet.
type thunk struct {
	call  *callNode
	input any
	env   *frame
}

func (n *thunkNode) evaluate(_ *run, input any, env *frame) (any, error) {
	return &thunk{n.call, input, env}, nil
}

// apply calls a function, then the tail calls that the function returns.
func (r *run) apply(procedure any, args []any, input any) (any, error) {
	v, err := r.applyOnce(procedure, args, input)
	for err == nil {
		t, ok := v.(*thunk)
		if !ok {
			return v, nil
		}
		if r.work(1); r.broken != nil {
			return nil, r.broken
		}
		if procedure, err = r.evaluate(t.call.procedure, t.input, t.env); err != nil {
			break
		}
		if args, err = t.call.evaluated(r, nil, t.input, t.env); err != nil {
			break
		}
		v, err = r.applyOnce(procedure, args, input)
		err = t.call.blamed(err)
	}
	return nil, err
}

func (r *run) applyOnce(procedure any, args []any, input any) (any, error) {
	f, ok := procedure.(function)
	if !ok {
		return nil, &fault{code: "T1006"}
	}
	args, err := f.accepts(r, args, input)
	if err != nil {
		return nil, err
	}
	v, err := f.call(r, args)
	if err != nil {
		return nil, err
	}
	if r.made(v); r.broken != nil {
		return nil, r.broken
	}
	return v, nil
}

// callback calls a function for an item, with as many of the arguments as the function has names for.
func (r *run) callback(f function, args ...any) (any, error) {
	return r.hand(f, args[:max(1, min(len(args), f.arity()))]...)
}

// hand calls a function that was passed as a value. A fault names the function by its own name.
func (r *run) hand(f function, args ...any) (any, error) {
	v, err := r.apply(f, args, null{})
	//nolint:errorlint // faults are never wrapped
	if wrong, ok := err.(*fault); ok && wrong.token == nil && wrong.code != LimitCode {
		if n, ok := f.(*native); ok && n.name != "" {
			wrong.token = n.name
		}
	}
	return v, err
}

func (n *applyNode) evaluate(r *run, input any, env *frame) (any, error) {
	left, err := r.evaluate(n.left, input, env)
	if err != nil {
		return nil, err
	}
	if call, ok := n.right.(*callNode); ok {
		return call.invoke(r, []any{left}, input, env)
	}
	right, err := r.evaluate(n.right, input, env)
	if err != nil {
		return nil, err
	}
	then, ok := right.(function)
	if !ok {
		return nil, &fault{code: "T2006", at: n.at, placed: true, value: right}
	}
	if first, ok := left.(function); ok {
		return &chain{first, then}, nil
	}
	return r.hand(then, left)
}

// A chain passes the result of one function to another.
type chain struct{ first, then function }

func (f *chain) arity() int                                       { return 1 }
func (f *chain) accepts(_ *run, args []any, _ any) ([]any, error) { return args, nil }
func (f *chain) call(r *run, args []any) (any, error) {
	var first any
	if len(args) > 0 {
		first = args[0]
	}
	v, err := r.hand(f.first, first)
	if err != nil {
		return nil, err
	}
	return r.hand(f.then, v)
}

// argument returns an argument as the given type, and whether it has that type.
func argument[T any](args []any, i int) (T, bool) {
	var zero T
	if i >= len(args) {
		return zero, false
	}
	v, ok := args[i].(T)
	return v, ok
}
