package ecmaregexp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

type parser struct {
	text   string
	pos    int
	depth  int
	groups int            // seen so far
	total  int            // in the whole pattern
	names  map[string]int // of all groups; 0 for those that the parser has not reached
}

// parse reads a pattern. Afterwards, the parser has the groups.
func parse(pattern string) (tree, *parser, error) {
	if len(pattern) > MaxLength {
		return nil, nil, &SyntaxError{0, fmt.Sprintf("the pattern has %d bytes; %d is the most", len(pattern), MaxLength)}
	}
	p := &parser{text: pattern, names: map[string]int{}}
	p.count()
	t, err := p.choice()
	if err == nil && p.pos < len(p.text) {
		err = p.fail("an unmatched )")
	}
	return t, p, err
}

// count counts the groups and collects their names. \2 is a back reference if a second group follows anywhere.
func (p *parser) count() {
	inClass := false
	for i := 0; i < len(p.text); i++ {
		switch rest := p.text[i:]; {
		case rest[0] == '\\':
			i++
		case rest[0] == '[':
			inClass = true
		case rest[0] == ']':
			inClass = false
		case inClass || rest[0] != '(':
		case !strings.HasPrefix(rest, "(?"):
			p.total++
		case isNamed(rest):
			p.total++
			if name, _, ok := strings.Cut(rest[3:], ">"); ok {
				p.names[name] = 0
			}
		}
	}
}

func isNamed(text string) bool {
	return strings.HasPrefix(text, "(?<") && !strings.HasPrefix(text, "(?<=") && !strings.HasPrefix(text, "(?<!")
}

func (p *parser) fail(problem string) error { return &SyntaxError{p.pos, problem} }

func (p *parser) peek() rune {
	if p.pos >= len(p.text) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return r
}

func (p *parser) next() rune {
	r, size := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += size
	return r
}

func (p *parser) take(prefix string) bool {
	if !strings.HasPrefix(p.text[p.pos:], prefix) {
		return false
	}
	p.pos += len(prefix)
	return true
}

func (p *parser) choice() (tree, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail(fmt.Sprintf("groups nest deeper than %d", maxNesting))
	}
	defer func() { p.depth-- }()
	var all choice
	for {
		t, err := p.sequence()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		if !p.take("|") {
			break
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

func (p *parser) sequence() (tree, error) {
	var all sequence
	for r := p.peek(); r != -1 && r != '|' && r != ')'; r = p.peek() {
		before := p.groups
		t, repeatable, err := p.term()
		if err != nil {
			return nil, err
		}
		if t, err = p.quantified(t, repeatable, before); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// term reads one part, and returns whether a quantifier may follow it.
func (p *parser) term() (t tree, repeatable bool, err error) {
	switch r := p.next(); r {
	case '^':
		return begin{}, false, nil
	case '$':
		return end{}, false, nil
	case '.':
		return dot{}, true, nil
	case '(':
		return p.group()
	case '[':
		t, err = p.class()
		return t, true, err
	case '\\':
		return p.escape()
	case '*', '+', '?':
		p.pos--
		return nil, false, p.fail("nothing to repeat")
	default:
		if r == '{' {
			p.pos--
			if _, _, ok := p.counts(); ok {
				return nil, false, p.fail("nothing to repeat")
			}
			p.pos++
		}
		return literal(r), true, nil
	}
}

// quantified reads a quantifier, if there is one. The part contains the groups that were counted since before.
func (p *parser) quantified(part tree, repeatable bool, before int) (tree, error) {
	low, high := 0, -1
	switch p.peek() {
	case '*':
		p.pos++
	case '+':
		low = 1
		p.pos++
	case '?':
		high = 1
		p.pos++
	case '{':
		var ok bool
		if low, high, ok = p.counts(); !ok {
			return part, nil
		}
	default:
		return part, nil
	}
	if !repeatable {
		return nil, p.fail("nothing to repeat")
	}
	if high >= 0 && high < low {
		return nil, p.fail("the numbers of a quantifier are out of order")
	}
	return &repeat{part: part, min: low, max: high, lazy: p.take("?"), first: before + 1, last: p.groups}, nil
}

// counts reads {2}, {2,} or {2,3}. Any other text is not a quantifier.
func (p *parser) counts() (low, high int, ok bool) {
	inside, rest, ok := strings.Cut(p.text[p.pos+1:], "}")
	if !ok {
		return 0, 0, false
	}
	first, second, two := strings.Cut(inside, ",")
	if low, ok = count(first); !ok {
		return 0, 0, false
	}
	high = low
	if two {
		high = -1
		if second != "" {
			if high, ok = count(second); !ok {
				return 0, 0, false
			}
		}
	}
	p.pos = len(p.text) - len(rest)
	return low, high, true
}

func count(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = math.MaxInt32
	}
	return min(n, math.MaxInt32), true
}

func (p *parser) group() (t tree, repeatable bool, err error) {
	at := p.pos - 1
	index, name := 0, ""
	lookaround := look{}
	isLook := true
	switch {
	case p.take("?:"):
		isLook = false
	case p.take("?="):
	case p.take("?!"):
		lookaround.negative = true
	case p.take("?<="):
		lookaround.behind = true
	case p.take("?<!"):
		lookaround.behind, lookaround.negative = true, true
	default:
		isLook = false
		if p.take("?<") {
			if name, err = p.name(); err != nil {
				return nil, false, err
			}
		} else if p.peek() == '?' {
			return nil, false, p.fail("an unknown kind of group")
		}
		p.groups++
		index = p.groups
	}
	if name != "" {
		if p.names[name] != 0 {
			return nil, false, p.fail("the name of a group occurs twice")
		}
		p.names[name] = index
	}
	part, err := p.choice()
	if err != nil {
		return nil, false, err
	}
	if !p.take(")") {
		p.pos = at
		return nil, false, p.fail("a group that is not closed")
	}
	switch {
	case isLook:
		lookaround.part = part
		return lookaround, !lookaround.behind, nil
	case index == 0:
		return part, true, nil
	}
	return group{part, index}, true, nil
}

func (p *parser) name() (string, error) {
	name, _, ok := strings.Cut(p.text[p.pos:], ">")
	if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r < 128 && !isWord(r) && r != '$' }) {
		return "", p.fail("expected the name of a group and >")
	}
	p.pos += len(name) + 1
	return name, nil
}

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
