package jsonpath

import "strings"

// A filter is the condition of [?(…)]: one of several alternatives, each of which consists of terms that must all hold.
type filter [][]term

// A term is left operator right, or a path alone, which exists or, after !, does not.
type term struct {
	left     operand
	operator string
	right    operand
	absent   bool
}

// An operand is one side of a comparison: a path, a regexp, or a text.
type operand struct {
	path     *query
	fromRoot bool // from $ rather than @
	pattern  *pattern
	text     string
}

// operators are the operators of filters. The first that occurs anywhere in a term is its operator.
var operators = []string{"==", ">=", "<=", "!=", "<", ">", "=~"}

// filter reads ?(condition).
func (p *parser) filter(next *step, s span) error {
	next.kind = stepFilter
	if p.inFilter {
		return p.fail(s.from, "a filter cannot contain a filter")
	}
	p.inFilter = true
	defer func() { p.inFilter = false }()
	s = p.trim(s, " ?", " ")
	text := p.of(s)
	if !strings.HasPrefix(text, "(") || !strings.HasSuffix(text, ")") {
		return p.fail(s.from, "a filter is written [?(…)]")
	}
	if problem := unbalanced(text); problem != "" {
		return p.fail(s.from, "%s", problem)
	}
	for _, alternative := range p.cut(span{s.from + 1, s.to - 1}, "||") {
		var terms []term
		for _, part := range p.cut(alternative, "&&") {
			t, err := p.term(part)
			if err != nil {
				return err
			}
			terms = append(terms, t)
		}
		next.filter = append(next.filter, terms)
	}
	if len(next.filter) > 1 && strings.Contains(text, "&&") && strings.Contains(text[1:], "(") {
		p.caution("AWS's JSONPath ignores parentheses in a filter: && binds stronger than ||")
	}
	return nil
}

// unbalanced says why a filter has no end, or "".
func unbalanced(text string) string {
	depth, quoted := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'' && (i == 0 || text[i-1] != '\\'):
			quoted = !quoted
		case c == '(' && !quoted:
			depth++
		case c == ')' && !quoted:
			depth--
		}
	}
	switch {
	case quoted:
		return "a quote in the filter is never closed"
	case depth != 0:
		return "the parentheses of the filter do not match"
	}
	return ""
}

// cut divides a span at each separator, also within quotes.
func (p *parser) cut(s span, separator string) []span {
	var parts []span
	for {
		i := strings.Index(p.of(s), separator)
		if i < 0 {
			return append(parts, s)
		}
		parts = append(parts, span{s.from, s.from + i})
		s.from += i + len(separator)
	}
}

// term reads a path alone, or a comparison.
func (p *parser) term(s span) (term, error) {
	s = p.trim(s, "[?( ", ") ")
	left, right, t := s, span{s.to, s.to}, term{}
	for _, operator := range operators {
		if i := strings.Index(p.of(s), operator); i >= 0 {
			t.operator = operator
			left = p.trim(span{s.from, s.from + i}, blanks, blanks)
			right = p.trim(span{s.from + i + len(operator), s.to}, blanks, blanks)
			break
		}
	}
	if strings.HasPrefix(p.of(left), "!@") {
		left.from++
		if t.absent = true; t.operator != "" {
			p.caution("AWS's JSONPath ignores ! before a comparison; turn its operator round")
		}
	}
	var err error
	if t.left, err = p.operand(left); err != nil {
		return t, err
	}
	if t.right, err = p.operand(right); err != nil {
		return t, err
	}
	switch {
	case s.from == s.to:
		return t, p.fail(s.from, "expected a condition, found %s", p.here(s))
	case t.operator == "" && t.left.path == nil:
		return t, p.fail(s.from, "a value alone is no condition; compare it, as in @.a == 1")
	case t.operator == "=~" && t.left.pattern == nil && t.right.pattern == nil:
		return t, p.fail(right.from, "=~ takes a regexp on its right, as in =~ /a.*/i")
	}
	return t, nil
}

// operand reads a path from @ or $, a regexp, or a text.
func (p *parser) operand(s span) (operand, error) {
	switch text := p.of(s); {
	case strings.HasPrefix(text, "!@"), strings.HasPrefix(text, "!$"), strings.HasPrefix(text, "!("):
		return operand{}, p.fail(s.from, "! stands only before a path from @, as in [?(!@.a)]")
	case strings.HasPrefix(text, "$"), strings.HasPrefix(text, "@"):
		if strings.HasPrefix(text, "$$") || identifier(text[1:]) != "" {
			return operand{}, p.fail(s.from,
				"in a filter $ is the document that is searched; context object and variables cannot be reached")
		}
		path, err := p.query(span{s.from + 1, s.to})
		if err == nil && !path.definite {
			err = p.fail(s.from, "a path in a filter names one value: it has no *, .., slice or filter")
		}
		return operand{path: &path, fromRoot: text[0] == '$'}, err
	case len(text) > 1 && text[0] == '\'' && strings.HasSuffix(text, "'"):
		return operand{text: text[1 : len(text)-1]}, nil
	case isPattern(text):
		pattern, err := p.pattern(s)
		return operand{pattern: pattern}, err
	default:
		if strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "=") {
			p.caution("AWS's JSONPath takes " + text + " for a text as it stands; write 'text' and ==")
		}
		return operand{text: text}, nil
	}
}
