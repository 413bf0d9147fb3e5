package jsonata

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/ecmaregexp"
)

type tokenKind uint8

const (
	endToken tokenKind = iota
	nameToken
	variableToken
	operatorToken
	stringToken
	numberToken
	valueToken // true, false, null
	regexToken
)

// A token is a word of an expression.
type token struct {
	kind   tokenKind
	at     int    // offset
	text   string // of a name, variable, operator or string
	number float64
	value  any // of a valueToken
	regex  *ecmaregexp.Regexp
}

// shown is the token as messages quote it.
func (t *token) shown() any {
	switch t.kind { //nolint:exhaustive // the others have a text
	case endToken:
		return "(end)"
	case numberToken:
		return t.number
	case valueToken:
		return t.value
	case regexToken:
		return "/" + t.regex.Source() + "/"
	}
	return t.text
}

// is reports whether the token is this operator or bracket.
func (t *token) is(operator string) bool { return t.kind == operatorToken && t.text == operator }

// A lexer splits an expression into tokens.
type lexer struct {
	text     string
	pos      int
	patterns int // instructions of the regular expressions so far
}

// longOperators come before the operators that are their prefixes.
var longOperators = []string{"..", ":=", "!=", ">=", "<=", "**", "~>"}

// delimiters end names.
const delimiters = ".[]{}(),@#;:?+-*/%|=<>^&!~"

const whitespace = " \t\n\r\v"

// next returns the next token. After an operand, a slash divides. Elsewhere, it starts a regular expression.
func (l *lexer) next(behindOperand bool) (token, *fault) {
	if f := l.space(); f != nil {
		return token{}, f
	}
	t := token{at: l.pos}
	if l.pos >= len(l.text) {
		return t, nil
	}
	c := l.text[l.pos]
	if c == '/' && !behindOperand {
		l.pos++
		return l.regex(t)
	}
	for _, operator := range longOperators {
		if strings.HasPrefix(l.text[l.pos:], operator) {
			l.pos += len(operator)
			t.kind, t.text = operatorToken, operator
			return t, nil
		}
	}
	switch {
	case strings.IndexByte(delimiters, c) >= 0:
		l.pos++
		t.kind, t.text = operatorToken, string(c)
		return t, nil
	case c == '"' || c == '\'':
		return l.quoted(t)
	case '0' <= c && c <= '9':
		n, length := parseNumber(l.text[l.pos:])
		if math.IsInf(n, 0) {
			return t, &fault{code: "S0102", at: l.pos, token: l.text[l.pos : l.pos+length]}
		}
		l.pos += length
		t.kind, t.number = numberToken, n
		return t, nil
	case c == '`':
		name, _, ok := strings.Cut(l.text[l.pos+1:], "`")
		if !ok {
			return t, &fault{code: "S0105", at: l.pos}
		}
		l.pos += len(name) + 2
		t.kind, t.text = nameToken, name
		return t, nil
	}
	return l.word(t), nil
}

// space skips white space and comments.
func (l *lexer) space() *fault {
	for {
		l.pos = len(l.text) - len(strings.TrimLeft(l.text[l.pos:], whitespace))
		if !strings.HasPrefix(l.text[l.pos:], "/*") {
			return nil
		}
		comment, _, ok := strings.Cut(l.text[l.pos+2:], "*/")
		if !ok {
			return &fault{code: "S0106", at: l.pos}
		}
		l.pos += len(comment) + 4
	}
}

func (l *lexer) word(t token) token {
	rest := l.text[l.pos:]
	end := strings.IndexAny(rest, delimiters+whitespace)
	if end < 0 {
		end = len(rest)
	}
	l.pos += end
	t.kind, t.text = nameToken, rest[:end]
	switch t.text {
	case "or", "and", "in":
		t.kind = operatorToken
	case "true", "false":
		t.kind, t.value = valueToken, t.text == "true"
	case "null":
		t.kind, t.value = valueToken, null{}
	default:
		if name, ok := strings.CutPrefix(t.text, "$"); ok {
			t.kind, t.text = variableToken, name
		}
	}
	return t
}

func (l *lexer) quoted(t token) (token, *fault) {
	quote := l.text[l.pos]
	var b strings.Builder
	for l.pos++; l.pos < len(l.text); l.pos++ {
		switch c := l.text[l.pos]; c {
		case quote:
			l.pos++
			t.kind, t.text = stringToken, b.String()
			return t, nil
		case '\\':
			if f := l.escape(&b); f != nil {
				return t, f
			}
		default:
			b.WriteByte(c)
		}
	}
	return t, &fault{code: "S0101", at: t.at}
}

// escape reads an escape sequence up to its last character. A lone surrogate is kept as the three bytes that UTF-8
// would use for it.
func (l *lexer) escape(b *strings.Builder) *fault {
	at := l.pos
	l.pos++
	if l.pos >= len(l.text) {
		return nil // the string is not closed
	}
	letter := l.text[l.pos]
	if meant, ok := escapes[letter]; ok {
		b.WriteByte(meant)
		return nil
	}
	if letter != 'u' {
		r, _ := utf8.DecodeRuneInString(l.text[l.pos:])
		return &fault{code: "S0103", at: at, token: string(r)}
	}
	r, ok := hex4(l.text[l.pos+1 : min(len(l.text), l.pos+5)])
	if !ok {
		return &fault{code: "S0104", at: at}
	}
	l.pos += 4
	if utf16.IsSurrogate(r) && strings.HasPrefix(l.text[l.pos+1:], `\u`) {
		if second, ok := hex4(l.text[l.pos+3 : min(len(l.text), l.pos+7)]); ok &&
			utf16.DecodeRune(r, second) != utf8.RuneError {
			r = utf16.DecodeRune(r, second)
			l.pos += 6
		}
	}
	if utf16.IsSurrogate(r) {
		b.Write([]byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f})
		return nil
	}
	b.WriteRune(r)
	return nil
}

// regex reads a regular expression. A slash between brackets does not end it.
func (l *lexer) regex(t token) (token, *fault) {
	start, depth := l.pos, 0
	for ; l.pos < len(l.text); l.pos++ {
		c := l.text[l.pos]
		switch {
		case c == '/' && depth == 0 && !escapedAt(l.text[start:l.pos]):
			return l.flags(t, l.text[start:l.pos])
		case l.text[l.pos-1] == '\\':
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
	}
	return t, &fault{code: "S0302", at: t.at}
}

// escapedAt reports whether the end of a text escapes the next character.
func escapedAt(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

func (l *lexer) flags(t token, pattern string) (token, *fault) {
	if pattern == "" {
		return t, &fault{code: "S0301", at: t.at}
	}
	l.pos++
	rest := l.text[l.pos:]
	flags := rest[:len(rest)-len(strings.TrimLeft(rest, "im"))]
	l.pos += len(flags)
	re, err := ecmaregexp.Compile(pattern, flags)
	if err != nil {
		return t, &fault{code: "S0303", at: t.at, message: err.Error()}
	}
	if l.patterns += re.Instructions(); l.patterns > MaxPatterns {
		message := fmt.Sprintf("the regular expressions compile to more than %d instructions; lower their repetitions",
			MaxPatterns)
		return t, &fault{code: "S0303", at: t.at, message: message}
	}
	t.kind, t.regex = regexToken, re
	return t, nil
}
