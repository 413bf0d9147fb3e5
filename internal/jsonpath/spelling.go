package jsonpath

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// String returns the path in its shortest form. Parsing this form gives the same path.
func (p *Path) String() string {
	var b strings.Builder
	p.spellRoot(&b)
	p.spell(&b, false)
	return b.String()
}

// Normalized returns the path with each member in brackets, as AWS writes paths in messages: $['a']['b'][0].
func (p *Path) Normalized() string {
	var b strings.Builder
	p.spellRoot(&b)
	p.spell(&b, true)
	return b.String()
}

// prefix returns the normalized path of the first n steps.
func (p *Path) prefix(n int) string {
	var b strings.Builder
	if p.root == RootContext {
		b.WriteByte('$') // as seen from the context object
	} else {
		p.spellRoot(&b)
	}
	spellSteps(&b, p.steps[:n], true)
	return b.String()
}

func (p *Path) spellRoot(b *strings.Builder) {
	b.WriteByte('$')
	switch p.root {
	case RootInput:
	case RootContext:
		b.WriteByte('$')
	case RootVariable:
		b.WriteString(p.variable)
	}
}

func (q *query) spell(b *strings.Builder, brackets bool) {
	spellSteps(b, q.steps, brackets)
	if q.function != noFunction {
		fmt.Fprintf(b, ".%s()", q.function)
	}
}

func spellSteps(b *strings.Builder, steps []step, brackets bool) {
	for i := range steps {
		s := &steps[i]
		if s.descend {
			b.WriteString("..")
		}
		if first := &s.selectors[0]; len(s.selectors) == 1 && !brackets {
			if first.kind == selectName && plainName(first.name) {
				spellDotted(b, s.descend, first.name)
				continue
			}
			if first.kind == selectAll {
				spellDotted(b, s.descend, "*")
				continue
			}
		}
		b.WriteByte('[')
		for j := range s.selectors {
			if j > 0 {
				b.WriteByte(',')
			}
			s.selectors[j].spell(b)
		}
		b.WriteByte(']')
	}
}

func spellDotted(b *strings.Builder, descend bool, name string) {
	if !descend {
		b.WriteByte('.')
	}
	b.WriteString(name)
}

func (s *selector) spell(b *strings.Builder) {
	switch s.kind {
	case selectName:
		spellQuoted(b, s.name)
	case selectMembers:
		for i, name := range s.names {
			if i > 0 {
				b.WriteByte(',')
			}
			spellQuoted(b, name)
		}
	case selectIndex:
		b.WriteString(strconv.Itoa(s.index))
	case selectSlice:
		s.slice.spell(b)
	case selectAll:
		b.WriteByte('*')
	case selectFilter:
		b.WriteString("?(")
		s.condition.spell(b)
		b.WriteByte(')')
	}
}

func (s slice) spell(b *strings.Builder) {
	if s.hasFrom {
		b.WriteString(strconv.Itoa(s.from))
	}
	b.WriteByte(':')
	if s.hasTo {
		b.WriteString(strconv.Itoa(s.to))
	}
	if s.by != 1 {
		fmt.Fprintf(b, ":%d", s.by)
	}
}

// plainName reports whether a name can follow a dot, also in a filter.
func plainName(name string) bool {
	for _, r := range name {
		if !isWordRune(r) || unicode.IsControl(r) || unicode.IsSpace(r) {
			return false
		}
	}
	return name != ""
}

// spellQuoted writes a text in single quotes, with the escapes that scanQuoted reads.
func spellQuoted(b *strings.Builder, text string) {
	b.WriteByte('\'')
	for _, r := range text {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
}

// spellLiteral writes a literal of a filter.
func spellLiteral(b *strings.Builder, value any) {
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		b.WriteString(v.String())
	case string:
		spellQuoted(b, v)
	case []any:
		b.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			spellLiteral(b, element)
		}
		b.WriteByte(']')
	}
}
