package jsonata

import (
	"fmt"
	"strings"
)

// call reads the arguments of a call. After the name function, it reads parameters and body of a definition.
func (p *parser) call(s *syntax) *fault {
	s.kind = callSyntax
	f := p.several(")", func() *fault {
		if p.next.is("?") {
			s.kind = partialSyntax
			s.list = append(s.list, &syntax{kind: placeholderSyntax, at: p.next.at, text: "?"})
			return p.advance(false)
		}
		argument, f := p.expression(0)
		s.list = append(s.list, argument)
		return f
	})
	if f != nil || s.left.kind != nameSyntax || s.left.text != "function" && s.left.text != "λ" {
		return f
	}
	for i, argument := range s.list {
		if argument.kind != variableSyntax {
			return &fault{code: "S0208", at: argument.at, token: argument.text, value: float64(i + 1)}
		}
	}
	s.kind = lambdaSyntax
	if p.next.is("<") {
		if f := p.signature(s); f != nil {
			return f
		}
	}
	if f = p.expect("{", false); f != nil {
		return f
	}
	if s.right, f = p.expression(0); f != nil {
		return f
	}
	return p.expect("}", false)
}

func (p *parser) signature(s *syntax) *fault {
	at := p.next.at
	depth := 1
	var text strings.Builder
	text.WriteByte('<')
	for depth > 0 && !p.next.is("{") && p.next.kind != endToken {
		if f := p.advance(false); f != nil {
			return f
		}
		switch {
		case p.next.is(">"):
			depth--
		case p.next.is("<"):
			depth++
		}
		fmt.Fprint(&text, p.next.shown())
	}
	if f := p.expect(">", false); f != nil {
		return f
	}
	var f *fault
	if s.signature, f = parseSignature(text.String()); f != nil {
		f.at += at
	}
	return f
}
