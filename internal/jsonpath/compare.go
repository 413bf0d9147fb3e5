package jsonpath

import (
	"cmp"
	"strings"
)

// holds reports whether a filter lets a value pass.
func (f filter) holds(e *evaluation, node any) (bool, error) {
	for _, terms := range f {
		all := true
		for i := 0; i < len(terms) && all; i++ {
			var err error
			if all, err = terms[i].holds(e, node); err != nil {
				return false, err
			}
		}
		if all {
			return true, nil
		}
	}
	return false, nil
}

func (t *term) holds(e *evaluation, node any) (bool, error) {
	if t.operator == "" { // $ is the value in question here, as on AWS
		value, found, err := e.definite(t.left.path, node)
		return (found && value != nil) != t.absent, err
	}
	left, found, err := t.left.value(e, node)
	if !found || err != nil {
		return false, err
	}
	right, found, err := t.right.value(e, node)
	if !found || err != nil {
		return false, err
	}
	if t.operator == "=~" {
		if p, ok := left.(*pattern); ok {
			return p.matches(e, right)
		}
		return t.right.pattern.matches(e, left)
	}
	order, ok, err := e.compare(left, right)
	if !ok || err != nil {
		return false, err
	}
	if t.operator != "==" && t.operator != "!=" && (left == nil) != (right == nil) {
		return false, nil
	}
	switch t.operator {
	case "==":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	default:
		return order >= 0, nil
	}
}

// value returns one side of a comparison, or false if its path names nothing.
func (o *operand) value(e *evaluation, node any) (value any, found bool, err error) {
	switch {
	case o.pattern != nil:
		return o.pattern, true, nil
	case o.path == nil:
		return o.text, true, nil
	case o.fromRoot:
		node = e.root
	}
	return e.definite(o.path, node)
}

// compare orders the sides of a comparison. A text on the right is also compared as a number or a boolean. Values of
// other types are neither equal nor different.
func (e *evaluation) compare(left, right any) (order int, ok bool, err error) {
	if err := e.spend(1); err != nil {
		return 0, false, err
	}
	if noLeft, noRight := nullish(left), nullish(right); noLeft || noRight {
		return cmp.Compare(truth(noRight), truth(noLeft)), true, nil
	}
	switch r := right.(type) {
	case bool:
		l, ok := left.(bool)
		return cmp.Compare(truth(l), truth(r)), ok, nil
	case string:
		switch l := left.(type) {
		case string:
			return strings.Compare(l, strings.ReplaceAll(r, `\'`, "'")), true, e.spendText(l)
		case bool:
			return cmp.Compare(truth(l), truth(strings.EqualFold(r, "true"))), true, nil
		}
	}
	return e.compareNumbers(left, right)
}

// nullish reports whether a value is null, or the text of it.
func nullish(value any) bool { return value == nil || value == "null" }

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
