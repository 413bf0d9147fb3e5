package jsonpath

import "strings"

// A condition is the test in a filter: allOf, anyOf, negation, existence or comparison.
type condition interface {
	holds(e *evaluation, node any) (bool, error)
	spell(b *strings.Builder)
}

// allOf is a && b && ….
type allOf []condition

func (c allOf) holds(e *evaluation, node any) (bool, error) {
	for _, part := range c {
		if ok, err := part.holds(e, node); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (c allOf) spell(b *strings.Builder) { spellParts(b, c, " && ") }

// anyOf is a || b || ….
type anyOf []condition

func (c anyOf) holds(e *evaluation, node any) (bool, error) {
	for _, part := range c {
		if ok, err := part.holds(e, node); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (c anyOf) spell(b *strings.Builder) { spellParts(b, c, " || ") }

func spellParts(b *strings.Builder, parts []condition, operator string) {
	for i, part := range parts {
		if i > 0 {
			b.WriteString(operator)
		}
		spellGrouped(b, part)
	}
}

// spellGrouped puts parentheses around a condition with several parts.
func spellGrouped(b *strings.Builder, c condition) {
	switch c.(type) {
	case allOf, anyOf:
		b.WriteByte('(')
		c.spell(b)
		b.WriteByte(')')
	default:
		c.spell(b)
	}
}

// negation is !c.
type negation struct{ of condition }

func (c negation) holds(e *evaluation, node any) (bool, error) {
	ok, err := c.of.holds(e, node)
	return !ok && err == nil, err
}

func (c negation) spell(b *strings.Builder) {
	b.WriteByte('!')
	if _, ok := c.of.(*comparison); ok {
		b.WriteByte('(')
		c.of.spell(b)
		b.WriteByte(')')
		return
	}
	spellGrouped(b, c.of)
}

// existence is @.a: the path leads to a value, which may be null.
type existence struct{ of *operand }

func (c existence) holds(e *evaluation, node any) (bool, error) {
	return c.of.path.exists(e, c.of.start(e, node))
}

func (c existence) spell(b *strings.Builder) { c.of.spell(b) }

// comparison is left operator right.
type comparison struct {
	operator    operator
	left, right operand
	pattern     *pattern // for opMatch, in place of right
}

func (c *comparison) holds(e *evaluation, node any) (bool, error) {
	if err := e.spend(1); err != nil {
		return false, err
	}
	left, present, err := c.left.value(e, node)
	if err != nil {
		return false, err
	}
	if !present {
		return c.operator.negates(), nil
	}
	if c.operator == opMatch {
		return c.pattern.matches(e, left)
	}
	right, present, err := c.right.value(e, node)
	if err != nil {
		return false, err
	}
	if !present {
		return c.operator.negates(), nil
	}
	return c.operator.apply(e, left, right)
}

func (c *comparison) spell(b *strings.Builder) {
	c.left.spell(b)
	b.WriteByte(' ')
	b.WriteString(c.operator.String())
	b.WriteByte(' ')
	if c.operator == opMatch {
		c.pattern.spell(b)
		return
	}
	c.right.spell(b)
}

// An operand is one side of a comparison: a path, or a literal if path is nil.
type operand struct {
	path     *query
	fromRoot bool // from $ rather than @
	literal  any
}

// start returns the value at which the operand's path starts.
func (o *operand) start(e *evaluation, node any) any {
	if o.fromRoot {
		return e.root
	}
	return node
}

func (o *operand) value(e *evaluation, node any) (value any, present bool, err error) {
	if o.path == nil {
		return o.literal, true, nil
	}
	return o.path.value(e, o.start(e, node))
}

func (o *operand) spell(b *strings.Builder) {
	if o.path == nil {
		spellLiteral(b, o.literal)
		return
	}
	if o.fromRoot {
		b.WriteByte('$')
	} else {
		b.WriteByte('@')
	}
	o.path.spell(b, false)
}
