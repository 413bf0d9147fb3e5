package jsonpath

import (
	"strings"
	"unicode/utf8"
)

// Parse reads a path. Its error is a *ParseError.
func Parse(text string) (*Path, error) {
	p := &parser{text: text}
	if len(text) > MaxLength {
		return nil, p.fail(MaxLength, "the path is %d bytes long; at most %d are allowed", len(text), MaxLength)
	}
	if !utf8.ValidString(text) {
		return nil, p.fail(firstInvalid(text), "the path is not valid UTF-8")
	}
	path := &Path{text: text}
	if err := p.parseRoot(path); err != nil {
		return nil, err
	}
	query, err := p.parseQuery()
	if err != nil {
		return nil, err
	}
	if p.pos < len(text) {
		return nil, p.unexpected(query)
	}
	path.query = query
	return path, nil
}

// firstInvalid returns the offset of the first byte that is not UTF-8.
func firstInvalid(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return len(text)
}

// unexpected says why a path cannot continue with the next character.
func (p *parser) unexpected(read query) error {
	switch {
	case read.function != noFunction:
		return p.fail(p.pos, "nothing may follow %s()", read.function)
	case len(read.steps) == 0:
		return p.fail(p.pos, "expected . or [ behind the root, found %s", p.here())
	default:
		return p.fail(p.pos, "%s cannot stand in a name without quotes; write ['a name'] or a backslash before it", p.here())
	}
}

func (p *parser) parseRoot(path *Path) error {
	if !p.skip("$") {
		return p.fail(0, "a path begins with $, as in $.name; found %s", p.here())
	}
	if p.skip("$") {
		path.root = RootContext
		return nil
	}
	if path.variable = p.scanIdentifier(); path.variable != "" {
		path.root = RootVariable
	}
	return nil
}

// parseQuery reads all steps, and the function after them.
func (p *parser) parseQuery() (query, error) {
	var q query
	for q.function == noFunction && (p.peek() == '.' || p.peek() == '[') {
		s := step{offset: p.pos}
		dotted := p.skip(".")
		s.descend = dotted && p.skip(".")
		if err := p.parseStep(&q, s, dotted); err != nil {
			return query{}, err
		}
	}
	q.seal()
	return q, nil
}

// parseStep reads the text after the dots of a step: a step, which it adds to q, or a function.
func (p *parser) parseStep(q *query, s step, dotted bool) error {
	switch {
	case p.peek() == '[':
		selectors, err := p.parseBrackets()
		if err != nil {
			return err
		}
		s.selectors = selectors
	case dotted && p.skip("*"):
		s.selectors = []selector{{kind: selectAll}}
	default:
		start := p.pos
		name, err := p.scanName()
		call := p.skip("()")
		switch {
		case err != nil:
			return err
		case name == "":
			return p.fail(start, "expected a name, * or [ behind the dot, found %s", p.here())
		case call && s.descend:
			return p.fail(start, "a function follows a single dot, as in $..price.sum()")
		case call:
			return p.parseFunction(q, name, start)
		}
		s.selectors = []selector{{kind: selectName, name: name}}
	}
	q.steps = append(q.steps, s)
	return nil
}

func (p *parser) parseFunction(q *query, name string, offset int) error {
	var ok bool
	if q.function, ok = functionNamed(name); !ok {
		return p.fail(offset, "no function %s(); there are %s; a member of that name is ['%s()']", name, functionNames(),
			name)
	}
	return nil
}

// parseBrackets reads [selector, selector, …].
func (p *parser) parseBrackets() ([]selector, error) {
	start := p.pos
	p.pos++
	var selectors []selector
	for {
		p.skipSpace()
		s, err := p.parseSelector()
		if err != nil {
			return nil, err
		}
		selectors = append(selectors, s)
		p.skipSpace()
		if p.skip("]") {
			return selectors, nil
		}
		if p.peek() == 0 {
			return nil, p.fail(start, "the bracket is never closed")
		}
		if !p.skip(",") {
			return nil, p.fail(p.pos, "expected , or ] in brackets, found %s", p.here())
		}
	}
}

func (p *parser) parseSelector() (selector, error) {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		name, err := p.scanQuoted()
		return selector{kind: selectName, name: name}, err
	case c == '*':
		p.pos++
		return selector{kind: selectAll}, nil
	case c == '?':
		condition, err := p.parseFilter()
		return selector{kind: selectFilter, condition: condition}, err
	case c == '-' || c == ':' || '0' <= c && c <= '9':
		return p.parseIndexOrSlice()
	case c == '(':
		return selector{}, p.fail(p.pos, "scripts are not supported; the last element is [-1], a filter is [?(…)]")
	default:
		return selector{}, p.fail(p.pos, "expected a quoted name, an index, a slice, * or ?( in brackets, found %s", p.here())
	}
}

// parseIndexOrSlice reads 1, 1:2, 1:, :2, 1:2:3 and the like.
func (p *parser) parseIndexOrSlice() (selector, error) {
	index, given, err := p.parseBound()
	if err != nil {
		return selector{}, err
	}
	if !p.skip(":") {
		return selector{kind: selectIndex, index: index}, nil
	}
	s := slice{from: index, hasFrom: given, by: 1}
	if s.to, s.hasTo, err = p.parseBound(); err != nil {
		return selector{}, err
	}
	if p.skip(":") {
		start := p.pos
		by, given, err := p.parseBound()
		switch {
		case err != nil:
			return selector{}, err
		case given && by == 0:
			return selector{}, p.fail(start, "a slice by steps of 0 gets nowhere; leave the step out or use 1")
		case given:
			s.by = by
		}
	}
	return selector{kind: selectSlice, slice: s}, nil
}

// parseBound reads a bound of a slice, if there is one, and the space around it.
func (p *parser) parseBound() (value int, given bool, err error) {
	p.skipSpace()
	if c := p.peek(); c == '-' || '0' <= c && c <= '9' {
		given = true
		value, err = p.scanInteger()
		p.skipSpace()
	}
	return value, given, err
}
