package jsonata

import (
	"fmt"
)

// Limits of an expression.
const (
	// MaxLength is the length in bytes of the longest expression.
	//
	//limit:jsonata JSONata expression (`jsonata.MaxLength`); its nesting (`jsonata.MaxNesting`) | {B}; {MaxNesting}
	MaxLength = 256 << 10
	// MaxNesting is the maximum nesting of an expression.
	MaxNesting = 1000
	// MaxPatterns is the maximum number of instructions to which all regular expressions of an expression may compile.
	//
	//limit:jsonata all regular expressions of a definition, or of one expression (`jsonata.MaxPatterns`) | {}
	//limit:and instructions
	MaxPatterns = 500_000
)

// A parser reads expressions by the binding powers of their operators (top-down
// operator precedence).
type parser struct {
	lexer lexer
	next  token // the current token
	depth int
}

// bindings are the binding powers of operators that follow an operand.
var bindings = map[string]int{
	".": 75, "[": 80, "{": 70, "(": 80, "@": 80, "#": 80, "?": 20, "+": 50, "-": 50, "*": 60, "/": 60, "%": 60, "=": 40,
	"<": 40, ">": 40, "^": 40,
	":=": 10, "!=": 40, "<=": 40, ">=": 40, "~>": 40, "and": 30, "or": 25, "in": 40, "&": 50,
}

// known are the operators that bind nothing on their left.
var known = map[string]bool{
	"]": true, "}": true, ")": true, ",": true, ";": true, ":": true, "..": true, "|": true,
	"**": true,
}

// parse returns the tree of an expression, and the number of instructions of its regular expressions.
func parse(text string) (*syntax, int, *fault) {
	if len(text) > MaxLength {
		return nil, 0, &fault{code: "S0201", message: fmt.Sprintf("the expression has %d bytes; %d is the most", len(text),
			MaxLength)}
	}
	p := &parser{lexer: lexer{text: text}}
	if f := p.advance(false); f != nil {
		return nil, 0, f
	}
	tree, f := p.expression(0)
	if f != nil {
		return nil, 0, f
	}
	if p.next.kind != endToken {
		return nil, 0, &fault{code: "S0201", at: p.next.at, token: p.next.shown()}
	}
	return tree, p.lexer.patterns, nil
}

// advance moves to the next token.
func (p *parser) advance(behindOperand bool) *fault {
	t, f := p.lexer.next(behindOperand)
	if f != nil {
		return f
	}
	if t.kind == operatorToken && bindings[t.text] == 0 && !known[t.text] {
		return &fault{code: "S0204", at: t.at, token: t.text}
	}
	p.next = t
	return nil
}

// expect moves past a mandatory operator.
func (p *parser) expect(operator string, closes bool) *fault {
	if !p.next.is(operator) {
		f := &fault{code: "S0202", at: p.next.at, token: p.next.shown(), value: operator}
		if p.next.kind == endToken {
			f.code = "S0203"
		}
		return f
	}
	return p.advance(closes)
}

// expression reads everything that binds more strongly than a power.
func (p *parser) expression(power int) (*syntax, *fault) {
	if p.depth++; p.depth > MaxNesting {
		return nil, tooDeep(p.next.at)
	}
	defer func() { p.depth-- }()
	t := p.next
	if f := p.advance(true); f != nil {
		return nil, f
	}
	left, f := p.operand(t)
	for f == nil && p.next.kind == operatorToken && power < bindings[p.next.text] {
		t = p.next
		if f = p.advance(false); f != nil {
			break
		}
		left, f = p.operator(t, left)
	}
	return left, f
}

func tooDeep(at int) *fault {
	return &fault{code: "S0201", at: at, message: fmt.Sprintf("the expression nests deeper than %d", MaxNesting)}
}

// operand reads the operand that a token starts.
func (p *parser) operand(t token) (*syntax, *fault) {
	s := &syntax{at: t.at, text: t.text}
	switch t.kind {
	case endToken:
		s.kind = endSyntax
	case nameToken:
		s.kind = nameSyntax
	case variableToken:
		s.kind = variableSyntax
	case stringToken:
		s.kind = stringSyntax
	case numberToken:
		s.kind, s.number = numberSyntax, t.number
	case valueToken:
		s.kind, s.value = valueSyntax, t.value
	case regexToken:
		s.kind, s.regex = regexSyntax, t.regex
	default:
		return p.prefix(s)
	}
	return s, nil
}

// prefix reads an expression that starts with a prefix operator.
func (p *parser) prefix(s *syntax) (_ *syntax, f *fault) {
	switch s.text {
	case "and", "or", "in":
		s.kind = keywordSyntax
	case "*":
		s.kind = wildcardSyntax
	case "**":
		s.kind = descendantSyntax
	case "%":
		s.kind = parentSyntax
	case "-":
		s.kind = negateSyntax
		s.left, f = p.expression(70)
	case "(":
		s.kind = blockSyntax
		return s, p.block(s)
	case "[":
		s.kind = arraySyntax
		return s, p.elements(s)
	case "{":
		s.kind = objectSyntax
		return s, p.members(s)
	case "|":
		s.kind = transformSyntax
		return s, p.transform(s)
	default:
		return nil, &fault{code: "S0211", at: s.at, token: s.text}
	}
	return s, f
}

func (p *parser) block(s *syntax) *fault {
	for !p.next.is(")") {
		part, f := p.expression(0)
		if f != nil {
			return f
		}
		s.list = append(s.list, part)
		if !p.next.is(";") {
			break
		}
		if f := p.advance(false); f != nil {
			return f
		}
	}
	return p.expect(")", true)
}

// several reads parts with commas between them, up to the closing bracket.
func (p *parser) several(closing string, part func() *fault) *fault {
	if !p.next.is(closing) {
		for {
			if f := part(); f != nil {
				return f
			}
			if !p.next.is(",") {
				break
			}
			if f := p.advance(false); f != nil {
				return f
			}
		}
	}
	return p.expect(closing, true)
}

func (p *parser) elements(s *syntax) *fault {
	return p.several("]", func() *fault {
		item, f := p.expression(0)
		if f != nil {
			return f
		}
		if p.next.is("..") {
			item = &syntax{kind: binarySyntax, text: "..", at: p.next.at, left: item}
			if f = p.advance(false); f != nil {
				return f
			}
			if item.right, f = p.expression(0); f != nil {
				return f
			}
		}
		s.list = append(s.list, item)
		return nil
	})
}

func (p *parser) members(s *syntax) *fault {
	return p.several("}", func() *fault {
		name, f := p.expression(0)
		if f != nil {
			return f
		}
		if f = p.expect(":", false); f != nil {
			return f
		}
		value, f := p.expression(0)
		s.pairs = append(s.pairs, pair{name, value})
		return f
	})
}

func (p *parser) transform(s *syntax) (f *fault) {
	if s.left, f = p.expression(0); f != nil {
		return f
	}
	if f = p.expect("|", false); f != nil {
		return f
	}
	if s.right, f = p.expression(0); f != nil {
		return f
	}
	if p.next.is(",") {
		if f = p.advance(false); f != nil {
			return f
		}
		if s.third, f = p.expression(0); f != nil {
			return f
		}
	}
	return p.expect("|", false)
}

// operator reads an operator and what follows it. The operand on its left is given.
func (p *parser) operator(t token, left *syntax) (_ *syntax, f *fault) {
	s := &syntax{kind: binarySyntax, at: t.at, text: t.text, left: left}
	switch t.text {
	case "(":
		return s, p.call(s)
	case "[":
		return p.filter(s)
	case "{":
		s.kind = groupSyntax
		return s, p.members(s)
	case "^":
		s.kind = orderSyntax
		return s, p.order(s)
	case "?":
		s.kind = conditionSyntax
		return s, p.condition(s)
	case ":=":
		if left.kind != variableSyntax {
			return nil, &fault{code: "S0212", at: left.at, token: left.text}
		}
		s.right, f = p.expression(bindings[":="] - 1)
	case "@", "#":
		if s.right, f = p.expression(bindings[t.text]); f == nil && s.right.kind != variableSyntax {
			f = &fault{code: "S0214", at: s.right.at, token: t.text}
		}
	default:
		s.right, f = p.expression(bindings[t.text])
	}
	return s, f
}

func (p *parser) filter(s *syntax) (_ *syntax, f *fault) {
	if p.next.is("]") {
		step := s.left
		for step.kind == filterSyntax {
			step = step.left
		}
		step.keepArray = true
		return s.left, p.advance(false)
	}
	s.kind = filterSyntax
	if s.right, f = p.expression(0); f != nil {
		return nil, f
	}
	return s, p.expect("]", true)
}

func (p *parser) order(s *syntax) *fault {
	if f := p.expect("(", false); f != nil {
		return f
	}
	for {
		term := sortTerm{descending: p.next.is(">")}
		if term.descending || p.next.is("<") {
			if f := p.advance(false); f != nil {
				return f
			}
		}
		var f *fault
		if term.by, f = p.expression(0); f != nil {
			return f
		}
		s.terms = append(s.terms, term)
		if !p.next.is(",") {
			return p.expect(")", false)
		}
		if f := p.advance(false); f != nil {
			return f
		}
	}
}

func (p *parser) condition(s *syntax) (f *fault) {
	if s.right, f = p.expression(0); f != nil || !p.next.is(":") {
		return f
	}
	if f = p.advance(false); f == nil {
		s.third, f = p.expression(0)
	}
	return f
}
