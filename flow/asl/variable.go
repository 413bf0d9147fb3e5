package asl

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// assign reads Assign. A variable lives in the level whose states assign it and
// can be read in the levels inside.
func (c *compiler) assign(l *level, n *node) *template {
	if n == nil {
		return nil
	}
	if n.kind != objectNode {
		c.schemaf(n, "Assign must be an object, found %s", n.kind)
		return nil
	}
	for _, m := range n.members {
		name := strings.TrimSuffix(m.name, ".$")
		switch {
		case !isVariableName(name):
			c.add(Error, SchemaValidationFailed, m.value, m.at, "", "%s is no name for a variable", []any{quote(name)})
		case name == "states":
			c.add(Error, SchemaValidationFailed, m.value, m.at, "", "the variable name states is reserved", nil)
		}
		if l.assigns[name] == nil {
			l.assigns[name] = m.value
		}
	}
	t := c.template(n)
	if t.constant != nil { // variables are handed on one by one
		t = &template{}
		for _, m := range n.members {
			t.fields = append(t.fields, templateField{m.name, &template{constant: constant(m.value.tree())}})
		}
	}
	return t
}

// isVariableName reports whether a name is an identifier of at most 80
// characters.
func isVariableName(name string) bool {
	for i, r := range name {
		if unicode.IsLetter(r) || r == '_' || i > 0 && unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc) {
			continue
		}
		return false
	}
	return name != "" && utf8.RuneCountInString(name) <= maxNameLength
}

// shadows reports variables that a level inside assigns though a level around
// it does: what that assigned would be lost at its end.
func (c *compiler) shadows(l *level) {
	for _, name := range slices.Sorted(maps.Keys(l.assigns)) {
		n := l.assigns[name]
		for outer := l.outer; outer != nil; outer = outer.outer {
			if outer.assigns[name] != nil {
				c.schemaf(n, "the variable %s is assigned in a level around this one, too; it can be read here, not assigned", quote(name))
				break
			}
		}
	}
}
