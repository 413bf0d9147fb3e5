package ecmaregexp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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
