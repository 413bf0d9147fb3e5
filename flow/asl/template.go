package asl

import (
	"encoding/json"
	"strings"
)

// A template is a compiled payload template: Parameters, ResultSelector,
// ItemSelector or Assign. Members whose name ends in .$ are evaluated, all else
// stands as it is.
type template struct {
	constant *datum // not nil: nothing in it is evaluated
	expr     expression
	fields   []templateField // of an object
	items    []*template     // of an array
}

type templateField struct {
	name  string
	value *template
}

// An expression is the value of a .$ member: a path or an intrinsic function.
type expression interface {
	evaluate(v *view) (any, *fault)
}

// tree returns what a node stands for, evaluating nothing.
func (n *node) tree() any {
	switch n.kind {
	case boolNode:
		return n.str == "true"
	case numberNode:
		return json.Number(n.str)
	case stringNode:
		return n.str
	case arrayNode:
		array := make([]any, len(n.items))
		for i, item := range n.items {
			array[i] = item.tree()
		}
		return array
	case objectNode:
		object := make(map[string]any, len(n.members))
		for _, m := range n.members {
			object[m.name] = m.value.tree()
		}
		return object
	default:
		return nil
	}
}

// dynamicField returns the first member at any depth whose name ends in .$, or
// nil.
func (n *node) dynamicField() *node {
	for _, m := range n.members {
		if strings.HasSuffix(m.name, ".$") {
			return m.value
		}
		if found := m.value.dynamicField(); found != nil {
			return found
		}
	}
	for _, item := range n.items {
		if found := item.dynamicField(); found != nil {
			return found
		}
	}
	return nil
}

// template compiles a payload template; nil gives nil.
func (c *compiler) template(n *node) *template {
	if n == nil {
		return nil
	}
	c.undollared(n)
	if n.dynamicField() == nil {
		return &template{constant: constant(n.tree())}
	}
	t := &template{} // something in it is evaluated, so it is an object or an array
	for _, m := range n.members {
		if field, ok := c.field(n, m); ok {
			t.fields = append(t.fields, field)
		}
	}
	for _, item := range n.items {
		t.items = append(t.items, c.template(item))
	}
	return t
}

func (c *compiler) field(n *node, m member) (templateField, bool) {
	name, dynamic := strings.CutSuffix(m.name, ".$")
	if !dynamic {
		return templateField{m.name, c.template(m.value)}, true
	}
	if n.get(name) != nil {
		c.schemaf(m.value, "%s and %s give the same field twice", quote(name), quote(m.name))
	}
	if m.value.kind != stringNode {
		c.schemaf(m.value, "the value for the field %s must be a path or an intrinsic function, found %s", quote(m.name), m.value.kind)
		return templateField{}, false
	}
	return templateField{name, &template{expr: c.expression(m.value, m.value.str)}}, true
}

// undollared warns of texts that look as if they were to be evaluated.
func (c *compiler) undollared(n *node) {
	for _, m := range n.members {
		v := m.value
		if v.kind == stringNode && !strings.HasSuffix(m.name, ".$") && looksDynamic(v.str) {
			c.warnf(NoDollar, v, "name it "+quote(m.name+".$"), "the value for the field %s looks like a path but is taken as it stands", quote(m.name))
		}
	}
}

func looksDynamic(text string) bool {
	return strings.HasPrefix(text, "$.") || strings.HasPrefix(text, "$$.") || strings.HasPrefix(text, "$[")
}

// evaluate returns what the template gives.
func (t *template) evaluate(v *view) (any, *fault) {
	switch {
	case t.constant != nil:
		return t.constant.tree, nil
	case t.expr != nil:
		return t.expr.evaluate(v)
	case t.fields != nil:
		object := make(map[string]any, len(t.fields))
		for i := range t.fields {
			value, f := t.fields[i].value.evaluate(v)
			if f != nil {
				return nil, f
			}
			object[t.fields[i].name] = value
		}
		return object, nil
	}
	array := make([]any, len(t.items))
	for i, item := range t.items {
		value, f := item.evaluate(v)
		if f != nil {
			return nil, f
		}
		array[i] = value
	}
	return array, nil
}

// datum is evaluate for those who hand the result on.
func (t *template) datum(v *view) (*datum, *fault) {
	if t.constant != nil {
		return t.constant, nil
	}
	tree, f := t.evaluate(v)
	if f != nil {
		return nil, f
	}
	return treeDatum(tree), nil
}
