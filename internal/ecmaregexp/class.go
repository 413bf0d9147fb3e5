package ecmaregexp

import (
	"slices"
	"unicode"
)

// A class is a set of characters, such as [a-z\d].
type class struct {
	ranges  []span
	negated bool
}

type span struct{ low, high rune }

var (
	digits = []span{{'0', '9'}}
	word   = []span{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaces = []span{{'\t', '\r'}, {' ', ' '}} // those of ASCII, as in Step Functions
)

// others returns the characters outside all spans, which are in order.
func others(spans []span) []span {
	var out []span
	next := rune(0)
	for _, s := range spans {
		if s.low > next {
			out = append(out, span{next, s.low - 1})
		}
		next = s.high + 1
	}
	return append(out, span{next, unicode.MaxRune})
}

func (c *class) has(r rune, fold bool) bool {
	return c.contains(r, fold) != c.negated
}

func (c *class) contains(r rune, fold bool) bool {
	if slices.ContainsFunc(c.ranges, func(s span) bool { return s.low <= r && r <= s.high }) {
		return true
	}
	if !fold {
		return false
	}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		if canonical(other) == canonical(r) && c.contains(other, false) {
			return true
		}
	}
	return false
}

// canonical returns the form of a character that ECMAScript compares if case does not matter.
func canonical(r rune) rune {
	upper := unicode.ToUpper(r)
	if r >= 128 && upper < 128 {
		return r
	}
	return upper
}

func isWord(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029 }
