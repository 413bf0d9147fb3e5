package ecmaregexp

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escape reads the text after a backslash outside of classes.
func (p *parser) escape() (t tree, repeatable bool, err error) {
	switch r := p.peek(); {
	case r == -1:
		return nil, false, p.fail(`a \ at the end of the pattern`)
	case r == 'b' || r == 'B':
		p.pos++
		return wordEnd{not: r == 'B'}, false, nil
	case r == 'k' && len(p.names) > 0:
		p.pos++
		if !p.take("<") {
			return nil, false, p.fail(`expected \k<name>`)
		}
		name, err := p.name()
		if err != nil {
			return nil, false, err
		}
		if _, ok := p.names[name]; !ok {
			return nil, false, p.fail("no group has the name " + name)
		}
		return reference{name: name}, true, nil
	case '1' <= r && r <= '9':
		rest := p.text[p.pos:]
		number := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if n, ok := count(number); ok && n <= p.total {
			p.pos += len(number)
			return reference{index: n}, true, nil
		}
	}
	if spans := p.classEscape(); spans != nil {
		return &class{ranges: spans}, true, nil
	}
	return literal(p.character()), true, nil
}

// classEscape reads the letter of \d, \w, \s and their opposites.
func (p *parser) classEscape() []span {
	var spans []span
	switch p.peek() {
	case 'd', 'D':
		spans = digits
	case 'w', 'W':
		spans = word
	case 's', 'S':
		spans = spaces
	default:
		return nil
	}
	if r := p.next(); r < 'a' {
		return others(spans)
	}
	return spans
}

// character reads the escape of one character.
func (p *parser) character() rune {
	switch r := p.next(); r {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'v':
		return '\v'
	case 'f':
		return '\f'
	case 'r':
		return '\r'
	case 'c':
		if letter := p.peek() | 0x20; 'a' <= letter && letter <= 'z' {
			return p.next() & 31
		}
		p.pos-- // a literal backslash
		return '\\'
	case 'x':
		if n, ok := p.hex(2); ok {
			return n
		}
		return r
	case 'u':
		first, ok := p.hex(4)
		if !ok {
			return r
		}
		if utf16.IsSurrogate(first) && strings.HasPrefix(p.text[p.pos:], `\u`) {
			at := p.pos
			p.pos += 2
			if second, ok := p.hex(4); ok {
				if whole := utf16.DecodeRune(first, second); whole != utf8.RuneError {
					return whole
				}
			}
			p.pos = at
		}
		return first
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := r - '0'
		for p.pos < len(p.text) && '0' <= p.text[p.pos] && p.text[p.pos] <= '7' && n*8 < 256 {
			n = n*8 + p.next() - '0'
		}
		return n
	default:
		return r
	}
}

func (p *parser) hex(length int) (rune, bool) {
	if p.pos+length > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[p.pos:p.pos+length], 16, 32)
	if err != nil {
		return 0, false
	}
	p.pos += length
	return rune(n), true
}

func (p *parser) class() (tree, error) {
	at := p.pos - 1
	c := &class{negated: p.take("^")}
	for !p.take("]") {
		if p.pos >= len(p.text) {
			p.pos = at
			return nil, p.fail("a class that is not closed")
		}
		low, spans := p.member()
		if spans == nil && p.peek() == '-' && !strings.HasPrefix(p.text[p.pos:], "-]") && p.pos+1 < len(p.text) {
			p.pos++
			high, more := p.member()
			if more == nil {
				if high < low {
					return nil, p.fail("a range that is out of order")
				}
				c.ranges = append(c.ranges, span{low, high})
				continue
			}
			spans = append([]span{{low, low}, {'-', '-'}}, more...)
		}
		if spans == nil {
			spans = []span{{low, low}}
		}
		c.ranges = append(c.ranges, spans...)
	}
	return c, nil
}

// member reads a character of a class, or an escape that stands for several characters.
func (p *parser) member() (rune, []span) {
	r := p.next()
	if r != '\\' || p.pos >= len(p.text) {
		return r, nil
	}
	if spans := p.classEscape(); spans != nil {
		return 0, spans
	}
	if p.take("b") {
		return '\b', nil
	}
	return p.character(), nil
}
