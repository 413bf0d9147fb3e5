package jsonpath

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// A pattern is a regexp of a filter, which must match a whole text.
type pattern struct {
	regexp *regexp.Regexp
	size   int // approximate number of compiled instructions
}

// isPattern reports whether a text is /regexp/ or /regexp/i.
func isPattern(text string) bool {
	return len(text) > 2 && text[0] == '/' && (strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/i"))
}

// pattern reads /regexp/ or /regexp/i.
func (p *parser) pattern(s span) (*pattern, error) {
	source, ignoreCase := strings.CutSuffix(p.of(s), "/i")
	source = strings.TrimSuffix(source[1:], "/")
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, p.fail(s.from, "%s (the syntax is RE2: no look-around, no back references)", err)
	}
	size := instructions(tree)
	if size > MaxPattern {
		return nil, p.fail(s.from,
			"the regexp is too large: about %d instructions, at most %d are allowed; lower its repetitions", size, MaxPattern)
	}
	flags := ""
	if ignoreCase {
		flags = "(?i)"
	}
	compiled, err := regexp.Compile(flags + `\A(?:` + source + `)\z`)
	if err != nil {
		return nil, p.fail(s.from, "%s (the syntax is RE2)", err)
	}
	return &pattern{compiled, size}, nil
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

// matches reports whether a value matches: a text, or a number or boolean as it is written.
func (p *pattern) matches(e *evaluation, value any) (bool, error) {
	text, ok := value.(string)
	if b, is := value.(bool); is {
		text, ok = strconv.FormatBool(b), true
	}
	if number, is := numberText(value); is {
		text, ok = number, true
	}
	if !ok {
		return false, nil
	}
	if err := e.spend(1 + len(text)*p.size/bytesPerStep); err != nil {
		return false, err
	}
	return p.regexp.MatchString(text), nil
}
