package jsonata

import "math"

func (n *binaryNode) evaluate(r *run, input any, env *frame) (any, error) {
	left, err := r.evaluate(n.left, input, env)
	if err != nil {
		return nil, err
	}
	if n.operator == "and" || n.operator == "or" {
		v, err := n.logic(r, left, input, env)
		return v, n.blamed(err)
	}
	right, err := r.evaluate(n.right, input, env)
	if err != nil {
		return nil, err
	}
	v, err := n.combine(r, left, right)
	return v, n.blamed(err)
}

// blamed adds the operator to a fault.
func (n *binaryNode) blamed(err error) error {
	f, ok := err.(*fault) //nolint:errorlint // faults are never wrapped
	if !ok || f.code == LimitCode {
		return err
	}
	f.at, f.placed, f.token = n.at, true, n.operator
	return f
}

func (n *binaryNode) logic(r *run, left, input any, env *frame) (any, error) {
	ok, err := truth(left)
	if err != nil || ok == (n.operator == "or") {
		return ok, err
	}
	right, err := r.evaluate(n.right, input, env)
	if err != nil {
		return nil, err
	}
	return truth(right)
}

func (n *binaryNode) combine(r *run, left, right any) (any, error) {
	switch n.operator {
	case "+", "-", "*", "/", "%":
		return arithmetic(n.operator, left, right)
	case "=":
		return left != nil && right != nil && r.equal(left, right), nil
	case "!=":
		return left != nil && right != nil && !r.equal(left, right), nil
	case "<", "<=", ">", ">=":
		return compare(n.operator, left, right)
	case "&":
		return r.concatenate(left, right)
	case "..":
		return r.span(left, right)
	default: // in
		return r.includes(left, right), nil
	}
}

func arithmetic(operator string, left, right any) (any, error) {
	a, ok, err := numeric(left)
	if err != nil {
		return nil, err
	}
	if !ok && left != nil {
		return nil, &fault{code: "T2001", value: left}
	}
	b, ok, err := numeric(right)
	if err != nil {
		return nil, err
	}
	if !ok && right != nil {
		return nil, &fault{code: "T2002", value: right}
	}
	if left == nil || right == nil {
		return undefined, nil
	}
	switch operator {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		return a / b, nil
	default:
		return math.Mod(a, b), nil
	}
}

func compare(operator string, left, right any) (any, error) {
	a, leftNumber := number(left)
	b, rightNumber := number(right)
	s, leftText := left.(string)
	t, rightText := right.(string)
	switch {
	case left != nil && !leftNumber && !leftText:
		return nil, &fault{code: "T2010", value: left}
	case right != nil && !rightNumber && !rightText:
		return nil, &fault{code: "T2010", value: right}
	case left == nil || right == nil:
		return undefined, nil
	case leftNumber != rightNumber:
		return nil, &fault{code: "T2009", value: left, value2: right}
	}
	if leftText {
		a, b = float64(compareText(s, t)), 0
	}
	switch operator {
	case "<":
		return a < b, nil
	case "<=":
		return a <= b, nil
	case ">":
		return a > b, nil
	default:
		return a >= b, nil
	}
}

func (r *run) concatenate(left, right any) (any, error) {
	a, err := r.text(left, false)
	if err != nil {
		return nil, err
	}
	b, err := r.text(right, false)
	if err != nil || !r.make(len(a)+len(b)) {
		return nil, r.failed(err)
	}
	return a + b, nil
}

// failed returns the error of a failed step, or of the exceeded limit.
func (r *run) failed(err error) error {
	if err == nil && r.broken != nil {
		return r.broken
	}
	return err
}

// span returns the numbers of a range.
func (r *run) span(left, right any) (any, error) {
	from, ok := number(left)
	if left != nil && (!ok || !isInteger(from)) {
		return nil, &fault{code: "T2003", value: left}
	}
	to, ok := number(right)
	if right != nil && (!ok || !isInteger(to)) {
		return nil, &fault{code: "T2004", value: right}
	}
	if left == nil || right == nil || from > to {
		return undefined, nil
	}
	size := to - from + 1
	if size > 1e7 {
		return nil, &fault{code: "D2014", value: size}
	}
	if r.work(int(size) / 2); !r.make(int(size) * scalarSize) {
		return nil, r.broken
	}
	out := &array{sequence: true, items: make([]any, int(size)), extent: extent{int(size) * scalarSize, 1}}
	for i := range out.items {
		out.items[i] = from + float64(i)
	}
	return out, nil
}

// includes reports whether an array contains a value. Arrays and objects must be identical, not only equal.
func (r *run) includes(v, in any) bool {
	if v == nil || in == nil {
		return false
	}
	for _, item := range wrapped(in).items {
		r.work(1)
		switch item.(type) {
		case float64, long, string:
			if r.equal(item, v) {
				return true
			}
		default:
			if item == v {
				return true
			}
		}
	}
	return false
}
