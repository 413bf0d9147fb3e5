// Package pagetest helps tests that write pages of the documentation.
package pagetest

import (
	"strings"
	"unicode/utf8"
)

// columns is the maximum length of a line of a page.
const columns = 120

// Wrap breaks the long lines of a Markdown page, except those of tables and code blocks. It does not break a code span,
// and it indents further lines of a list item.
func Wrap(page string) string {
	lines := strings.SplitAfter(page, "\n")
	inBlock := false
	var b strings.Builder
	for _, line := range lines {
		if strings.HasPrefix(line, "```") {
			inBlock = !inBlock
		}
		if inBlock || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "<!--") {
			b.WriteString(line)
			continue
		}
		b.WriteString(wrapLine(line))
	}
	return b.String()
}

// wrapLine breaks one line at spaces that are outside of code spans.
func wrapLine(line string) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	indent := ""
	if strings.HasPrefix(line, "- ") {
		indent = "  "
	}
	var b strings.Builder
	used, inSpan := 0, false
	word := strings.Builder{}
	flush := func() {
		width := utf8.RuneCountInString(word.String())
		switch {
		case used == 0:
		case used+1+width > columns && used > 1: // a list item begins on the line of its mark
			b.WriteString("\n" + indent)
			used = len(indent)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word.String())
		used += width
		word.Reset()
	}
	for _, r := range strings.TrimSuffix(line, "\n") {
		if r == '`' {
			inSpan = !inSpan
		}
		if r == ' ' && !inSpan {
			flush()
			continue
		}
		word.WriteRune(r)
	}
	flush()
	return b.String() + line[len(strings.TrimSuffix(line, "\n")):]
}
