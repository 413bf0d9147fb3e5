package jsonpath

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// parser reads a path from left to right. After each method, pos is the end of what the method read.
type parser struct {
	text    string
	pos     int
	nesting int // of parentheses, filters and literals
	filters int // the number of filters among them
}

// fail returns a ParseError for the given position.
func (p *parser) fail(offset int, format string, args ...any) error {
	return &ParseError{Text: p.text, Offset: offset, Problem: fmt.Sprintf(format, args...)}
}

// enter opens a level of nesting, and leave closes it.
func (p *parser) enter() error {
	if p.nesting++; p.nesting > MaxNesting {
		return p.fail(p.pos, "nested deeper than %d; use a simpler filter", MaxNesting)
	}
	return nil
}

func (p *parser) leave() { p.nesting-- }

// peek returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// skip moves past token if it is next.
func (p *parser) skip(token string) bool {
	if !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	return true
}

func (p *parser) skipSpace() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// here describes the next token, for messages.
func (p *parser) here() string {
	if p.pos >= len(p.text) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return strconv.QuoteRune(r)
}

// isWordRune reports whether a name after a dot may contain a rune everywhere.
func isWordRune(r rune) bool {
	return r >= utf8.RuneSelf || r == '_' || r == '-' ||
		'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// isNameRune reports whether a name after a dot may contain a rune here. Outside filters, names may contain signs that
// have a meaning inside filters.
func (p *parser) isNameRune(r rune) bool {
	return isWordRune(r) || p.filters == 0 && strings.ContainsRune("&#$%+/;^`", r)
}

// scanName reads a name after a dot. It returns "" if there is none.
func (p *parser) scanName() (string, error) {
	var b strings.Builder
	for p.pos < len(p.text) {
		if p.peek() == '\\' {
			if err := p.scanEscape(&b, nil); err != nil {
				return "", err
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		if !p.isNameRune(r) {
			break
		}
		b.WriteString(p.text[p.pos : p.pos+size])
		p.pos += size
	}
	return b.String(), nil
}

// controls are the letters that stand for control characters in quoted text.
var controls = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// scanQuoted reads text in single or double quotes.
func (p *parser) scanQuoted() (string, error) {
	start, quote := p.pos, p.peek()
	p.pos++
	var b strings.Builder
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; c {
		case quote:
			p.pos++
			return b.String(), nil
		case '\\':
			if err := p.scanEscape(&b, controls); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	return "", p.fail(start, "the quote %c is never closed", quote)
}

// scanEscape reads a backslash and the escape after it. \uXXXX is a UTF-16 code unit, a letter of named has the meaning
// in named, and any other character stands for itself.
func (p *parser) scanEscape(b *strings.Builder, named map[byte]byte) error {
	start := p.pos
	p.pos++
	if unit, ok := p.scanCodeUnit(); ok {
		if !utf16.IsSurrogate(unit) {
			b.WriteRune(unit)
			return nil
		}
		if p.skip(`\`) {
			low, _ := p.scanCodeUnit()
			if r := utf16.DecodeRune(unit, low); r != unicode.ReplacementChar {
				b.WriteRune(r)
				return nil
			}
		}
		return p.fail(start, "half of a surrogate pair; write both halves, or the character itself")
	}
	if p.pos >= len(p.text) {
		return p.fail(start, "a backslash needs a character behind it")
	}
	if c, ok := named[p.text[p.pos]]; ok {
		b.WriteByte(c)
		p.pos++
		return nil
	}
	_, size := utf8.DecodeRuneInString(p.text[p.pos:])
	b.WriteString(p.text[p.pos : p.pos+size])
	p.pos += size
	return nil
}

// scanCodeUnit reads the uXXXX of an escape, if it is next.
func (p *parser) scanCodeUnit() (rune, bool) {
	const length = len("uXXXX")
	if p.peek() != 'u' || p.pos+length > len(p.text) {
		return 0, false
	}
	unit, err := strconv.ParseUint(p.text[p.pos+1:p.pos+length], 16, 16)
	if err != nil {
		return 0, false
	}
	p.pos += length
	return rune(unit), true
}

// scanIdentifier reads the name of a variable. It returns "" if there is none.
func (p *parser) scanIdentifier() string {
	start := p.pos
	for p.pos < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		first := r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
		if !first && (p.pos == start || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)) {
			break
		}
		p.pos += size
	}
	return p.text[start:p.pos]
}

// scanInteger reads an integer that fits an index.
func (p *parser) scanInteger() (int, error) {
	start := p.pos
	p.skip("-")
	for '0' <= p.peek() && p.peek() <= '9' {
		p.pos++
	}
	number, err := strconv.ParseInt(p.text[start:p.pos], 10, 32)
	if err != nil {
		if p.pos == start || p.text[start:p.pos] == "-" {
			return 0, p.fail(start, "expected an integer, found %s", p.here())
		}
		return 0, p.fail(start, "%s is no index; use one of at most 32 bits", p.text[start:p.pos])
	}
	return int(number), nil
}

// scanWord reads an unquoted literal: a number, true, false, null, or text.
func (p *parser) scanWord() (any, error) {
	start := p.pos
	for p.pos < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		if !isWordRune(r) && r != '.' && r != '+' {
			break
		}
		p.pos += size
	}
	var value any
	switch word := p.text[start:p.pos]; {
	case word == "":
		return nil, p.fail(start,
			"expected a value, found %s; write a path from @ or $, 'text', a number, true, false, null or [a list]", p.here())
	case word == "null":
	case word == "true", word == "false":
		value = word == "true"
	case isNumber(word):
		value = json.Number(word)
	case strings.IndexByte("0123456789-+.", word[0]) >= 0:
		return nil, p.fail(start, "%s is no JSON number; write '%s' if it is text", word, word)
	default:
		value = word
	}
	return value, nil
}

// isNumber reports whether a word is a number as JSON writes it.
func isNumber(word string) bool {
	return strings.IndexByte("0123456789-", word[0]) >= 0 && json.Valid([]byte(word))
}
