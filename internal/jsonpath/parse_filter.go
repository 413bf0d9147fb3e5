package jsonpath

// parseFilter reads ?(condition), or ?condition as RFC 9535 writes it.
func (p *parser) parseFilter() (condition, error) {
	p.skip("?")
	p.filters++
	defer func() { p.filters-- }()
	return p.parseAnyOf()
}

// parseAnyOf reads a || b || …, which binds weaker than &&.
func (p *parser) parseAnyOf() (condition, error) {
	parts, err := p.parseParts("||", p.parseAllOf)
	if len(parts) == 1 || err != nil {
		return only(parts), err
	}
	return anyOf(parts), nil
}

func (p *parser) parseAllOf() (condition, error) {
	parts, err := p.parseParts("&&", p.parseTerm)
	if len(parts) == 1 || err != nil {
		return only(parts), err
	}
	return allOf(parts), nil
}

func (p *parser) parseParts(separator string, parse func() (condition, error)) ([]condition, error) {
	var parts []condition
	for {
		part, err := parse()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		p.skipSpace()
		if !p.skip(separator) {
			return parts, nil
		}
	}
}

func only(parts []condition) condition {
	if len(parts) == 0 {
		return nil
	}
	return parts[0]
}

// parseTerm reads !term, (condition), or a comparison.
func (p *parser) parseTerm() (condition, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.skipSpace()
	start := p.pos
	if p.skip("!") {
		term, err := p.parseTerm()
		return negation{term}, err
	}
	if !p.skip("(") {
		return p.parseComparison()
	}
	c, err := p.parseAnyOf()
	if err != nil {
		return nil, err
	}
	if !p.skip(")") {
		if p.peek() == 0 {
			return nil, p.fail(start, "the parenthesis is never closed")
		}
		return nil, p.fail(p.pos, "expected &&, || or ) in a filter, found %s", p.here())
	}
	return c, nil
}

// parseComparison reads left operator right, or a path alone.
func (p *parser) parseComparison() (condition, error) {
	start := p.pos
	left, err := p.parseOperand()
	if err != nil {
		return nil, err
	}
	p.skipSpace()
	place := p.pos
	op, err := p.parseOperator()
	if err != nil {
		return nil, err
	}
	if op == noOperator {
		if left.path == nil {
			return nil, p.fail(start, "a value alone is no condition; compare it, as in @.a == 1")
		}
		return existence{&left}, nil
	}
	c := &comparison{operator: op, left: left}
	p.skipSpace()
	if op == opMatch {
		c.pattern, err = p.parsePattern()
		return c, err
	}
	if c.right, err = p.parseOperand(); err != nil {
		return nil, err
	}
	if wants := op.wants(c.right); wants != "" {
		return nil, p.fail(place, "%s takes %s on its right", op, wants)
	}
	return c, nil
}

// parseOperator reads the next operator. At the end of a condition, it returns none.
func (p *parser) parseOperator() (operator, error) {
	start := p.pos
	if 'a' <= p.peek() && p.peek() <= 'z' {
		for 'a' <= p.peek() && p.peek() <= 'z' {
			p.pos++
		}
		word := p.text[start:p.pos]
		for op := firstWord; op <= lastOperator; op++ {
			if operatorNames[op] == word {
				return op, nil
			}
		}
		return noOperator, p.fail(start, "no operator %s; there are %s", word, operatorList())
	}
	for op := noOperator + 1; op < firstWord; op++ { // longer ones come first
		if p.skip(operatorNames[op]) {
			return op, nil
		}
	}
	if p.peek() == '=' {
		return noOperator, p.fail(start, "a single = compares nothing; write ==")
	}
	return noOperator, nil
}

// parseOperand reads a path from @ or $, or a literal.
func (p *parser) parseOperand() (operand, error) {
	p.skipSpace()
	switch c := p.peek(); c {
	case '@', '$':
		p.pos++
		if start := p.pos; c == '$' && (p.peek() == '$' || p.scanIdentifier() != "") {
			return operand{}, p.fail(start-1,
				"in a filter $ is the document that is searched; context object and variables cannot be reached")
		}
		path, err := p.parseQuery()
		return operand{path: &path, fromRoot: c == '$'}, err
	case '/':
		return operand{}, p.fail(p.pos, "a regexp stands on the right of =~")
	default:
		literal, err := p.parseLiteral()
		return operand{literal: literal}, err
	}
}

// parseLiteral reads a text, a word, or a list of literals.
func (p *parser) parseLiteral() (any, error) {
	switch p.peek() {
	case '\'', '"':
		return p.scanQuoted()
	case '[':
		return p.parseList()
	default:
		return p.scanWord()
	}
}

func (p *parser) parseList() (any, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := p.pos
	p.pos++
	list := []any{}
	if p.skipSpace(); p.skip("]") {
		return list, nil
	}
	for {
		p.skipSpace()
		element, err := p.parseLiteral()
		if err != nil {
			return nil, err
		}
		list = append(list, element)
		p.skipSpace()
		if p.skip("]") {
			return list, nil
		}
		if !p.skip(",") {
			return nil, p.fail(start, "the list is never closed; expected , or ], found %s", p.here())
		}
	}
}
