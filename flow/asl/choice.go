package asl

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

// A rule is one entry of a Choice state's Choices.
type rule struct {
	test   test
	next   *state
	assign *template
}

// A test is a compiled condition.
type test interface {
	holds(v *view) (bool, *fault)
}

type (
	allOf []test // And
	anyOf []test // Or
	not   struct{ test }
)

func (t allOf) holds(v *view) (bool, *fault) {
	for _, part := range t {
		if ok, f := part.holds(v); f != nil || !ok {
			return false, f
		}
	}
	return true, nil
}

func (t anyOf) holds(v *view) (bool, *fault) {
	for _, part := range t {
		if ok, f := part.holds(v); f != nil || ok {
			return ok, f
		}
	}
	return false, nil
}

func (t not) holds(v *view) (bool, *fault) {
	ok, f := t.test.holds(v)
	return !ok, f
}

// comparison compares what Variable names with a literal or with what another
// path names.
type comparison struct {
	variable *jsonpath.Path
	operator operator
	literal  any
	path     *jsonpath.Path // of operators ending in Path
}

func (t *comparison) holds(v *view) (bool, *fault) {
	left, found, f := v.get(t.variable)
	if f != nil {
		return false, f
	}
	if t.operator.presence {
		return t.literal == found, nil
	}
	if !found {
		return false, invalidChoicePath(t.variable)
	}
	right := t.literal
	if t.path != nil {
		if right, found, f = v.get(t.path); f != nil {
			return false, f
		}
		if !found {
			return false, invalidChoicePath(t.path)
		}
	}
	return t.operator.holds(left, right), nil
}

func invalidChoicePath(path *jsonpath.Path) *fault {
	return runtimeFault("Invalid path '%s': The choice state's condition path references an invalid value.", path.Text())
}

// choice reads what only a Choice state has.
func (c *compiler) choice(s *state) {
	list := s.source.get("Choices")
	switch {
	case list == nil:
		c.schemaf(s.source, "these fields are required: Choices")
	case list.kind != arrayNode || len(list.items) == 0:
		c.schemaf(list, "Choices must be an array of at least one rule")
	default:
		for _, n := range list.items {
			s.choices = append(s.choices, c.rule(s, n))
		}
	}
	if n := s.source.get("Default"); n != nil {
		s.fallback = c.target(s.level, n)
	}
}

// rule reads a rule of a Choice state.
func (c *compiler) rule(s *state, n *node) rule {
	r := rule{test: c.test(n, "Next", "Assign")}
	if n.kind != objectNode {
		return r
	}
	if next := n.get("Next"); next != nil {
		r.next = c.target(s.level, next)
	} else {
		c.schemaf(n, "a rule of Choices needs Next")
	}
	r.assign = c.assign(s.level, n.get("Assign"))
	return r
}

// test reads a condition: And, Or, Not, or a comparison. Beside it only Comment
// and the extra members may stand.
func (c *compiler) test(n *node, extra ...string) test {
	if n.kind != objectNode {
		c.schemaf(n, "a rule must be an object, found %s", n.kind)
		return nil
	}
	var found []member
	for _, m := range n.members {
		_, isOperator := operators[m.name]
		switch {
		case isOperator, m.name == "And", m.name == "Or", m.name == "Not":
			found = append(found, m)
		case m.name == "Variable", m.name == "Comment", contains(extra, m.name):
		case m.name == "Next" || m.name == "Assign":
			c.add(Error, SchemaValidationFailed, m.value, m.at, "", "%s is for rules of Choices, not for the rules inside them", []any{m.name})
		default:
			c.notOperator(m)
		}
	}
	if len(found) != 1 {
		c.schemaf(n, "a rule needs exactly one of And, Or, Not or a comparison such as StringEquals, found %d", len(found))
		return nil
	}
	switch m := found[0]; m.name {
	case "And", "Or":
		return c.several(m)
	case "Not":
		return not{c.test(m.value)}
	default:
		return c.comparison(n, m)
	}
}

func (c *compiler) notOperator(m member) {
	fix := ""
	if near := nearest(m.name, operatorNames); near != "" {
		fix = "did you mean " + near + "?"
	}
	c.add(Error, SchemaValidationFailed, m.value, m.at, fix, "%s is no comparison", []any{cut(m.name)})
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

func (c *compiler) several(m member) test {
	if m.value.kind != arrayNode || len(m.value.items) == 0 {
		c.schemaf(m.value, "%s must be an array of at least one rule", m.name)
		return nil
	}
	parts := make([]test, len(m.value.items))
	for i, item := range m.value.items {
		parts[i] = c.test(item)
	}
	if m.name == "And" {
		return allOf(parts)
	}
	return anyOf(parts)
}

func (c *compiler) comparison(n *node, m member) test {
	t := &comparison{operator: operators[m.name]}
	if variable := n.get("Variable"); variable != nil {
		t.variable = c.path(variable)
	} else {
		c.schemaf(n, "a rule with %s needs Variable", m.name)
	}
	if strings.HasSuffix(m.name, "Path") {
		t.path = c.path(m.value)
		return t
	}
	t.literal = m.value.tree()
	if !t.operator.operand.accepts(t.literal) {
		c.schemaf(m.value, "%s must be %s, found %s", m.name, t.operator.operand, m.value.kind)
	}
	return t
}
