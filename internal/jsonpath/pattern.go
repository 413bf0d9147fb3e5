package jsonpath

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// A pattern is a regexp of a filter, which must match a whole text.
type pattern struct {
	source string // the text between the slashes
	flags  string // of "imsu", in this order
	regexp *regexp.Regexp
	size   int // approximate number of compiled instructions
}

// parsePattern reads /regexp/flags.
func (p *parser) parsePattern() (*pattern, error) {
	start := p.pos
	if !p.skip("/") {
		return nil, p.fail(start, "=~ takes a regexp on its right, as in =~ /a.*/i; found %s", p.here())
	}
	for p.peek() != '/' {
		if p.peek() == '\\' {
			p.pos++
		}
		if p.pos++; p.pos >= len(p.text) {
			return nil, p.fail(start, "the regexp is never closed by /")
		}
	}
	source := p.text[start+1 : p.pos]
	p.pos++
	flags, err := p.parseFlags()
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, p.fail(start, "%s (the syntax is RE2: no look-around, no back references)", err)
	}
	size := instructions(tree)
	if size > MaxPattern {
		return nil, p.fail(start,
			"the regexp is too large: about %d instructions, at most %d are allowed; lower its repetitions", size, MaxPattern)
	}
	compiled, err := regexp.Compile(inlineFlags(flags) + `\A(?:` + source + `)\z`)
	if err != nil {
		return nil, p.fail(start, "%s (the syntax is RE2)", err)
	}
	return &pattern{source, flags, compiled, size}, nil
}

// parseFlags reads the letters after a regexp and returns each once, in order.
func (p *parser) parseFlags() (string, error) {
	const known = "imsu"
	start := p.pos
	for isWordRune(rune(p.peek())) {
		if strings.IndexByte(known, p.peek()) < 0 {
			return "", p.fail(p.pos, "no regexp flag %s; there are i, m, s and u", p.here())
		}
		p.pos++
	}
	var flags strings.Builder
	for _, flag := range known {
		if strings.ContainsRune(p.text[start:p.pos], flag) {
			flags.WriteRune(flag)
		}
	}
	return flags.String(), nil
}

// inlineFlags writes flags as RE2 does. RE2 has no u: its case folding always follows Unicode.
func inlineFlags(flags string) string {
	if flags = strings.TrimSuffix(flags, "u"); flags == "" {
		return ""
	}
	return "(?" + flags + ")"
}

// instructions estimates the compiled size of a regexp before it is compiled and takes memory.
func instructions(tree *syntax.Regexp) int {
	const enough = MaxPattern + 1
	sum := 1 + len(tree.Rune)/8
	if tree.Op == syntax.OpLiteral {
		sum = 1 + len(tree.Rune)
	}
	for _, sub := range tree.Sub {
		sum = min(sum+instructions(sub), enough)
	}
	if tree.Op == syntax.OpRepeat {
		sum *= max(tree.Min, tree.Max, 1)
	}
	return min(sum, enough)
}

// matches reports whether a value matches: a text, a number or a boolean as it is written, or a list with such an
// element.
func (p *pattern) matches(e *evaluation, value any) (bool, error) {
	switch v := value.(type) {
	case string:
		return p.matchesText(e, v)
	case bool:
		return p.matchesText(e, strconv.FormatBool(v))
	case []any:
		for _, element := range v {
			if _, list := element.([]any); list {
				continue
			}
			if ok, err := p.matches(e, element); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	if text, ok := numberText(value); ok {
		return p.matchesText(e, text)
	}
	return false, nil
}

func (p *pattern) matchesText(e *evaluation, text string) (bool, error) {
	if err := e.spend(1 + len(text)*p.size/bytesPerStep); err != nil {
		return false, err
	}
	return p.regexp.MatchString(text), nil
}

func (p *pattern) spell(b *strings.Builder) {
	b.WriteByte('/')
	b.WriteString(p.source)
	b.WriteByte('/')
	b.WriteString(p.flags)
}
