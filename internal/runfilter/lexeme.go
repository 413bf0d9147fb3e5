package runfilter

import (
	"strings"
	"unicode"
)

// A lexeme is a part of a filter's text, without the quotation marks.
type lexeme []char

// nothing is the rune of a character that only has a place: where a quotation mark was.
const nothing rune = -1

type char struct {
	r      rune
	quoted bool
	column int
}

// is reports whether the character is r outside of quotation marks.
func (c char) is(r rune) bool { return c.r == r && !c.quoted }

// String returns the text.
func (l lexeme) String() string {
	var b strings.Builder
	for _, c := range l {
		if c.r != nothing {
			b.WriteRune(c.r)
		}
	}
	return b.String()
}

// cut cuts the text around the first r that is not quoted.
func (l lexeme) cut(r rune) (before, after lexeme, found bool) {
	for i, c := range l {
		if c.is(r) {
			return l[:i], l[i+1:], true
		}
	}
	return l, nil, false
}

// pattern returns a text, and whether it is a beginning.
func (l lexeme) pattern() (text string, prefix bool) {
	if n := len(l); n > 0 && l[n-1].is('*') {
		return l[:n-1].String(), true
	}
	return l.String(), false
}

// special are the characters, besides white space, that have a meaning outside of quotation marks.
const special = "\",=*:\\"

// quote writes a text so that it is read as it is.
func quote(text string, prefix bool) string {
	if text == "" && !prefix || strings.ContainsAny(text, special) || strings.ContainsFunc(text, unicode.IsSpace) {
		text = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
	}
	if prefix {
		text += `*`
	}
	return text
}
