// Package visible writes text from outside so that it can be shown: on a terminal, in a log and in a picture. Text that
// a reader cannot see becomes an escape that names it, such as \x1b or \u202e. This covers control characters,
// direction marks, characters without a width, and bytes that are not UTF-8. Such characters move a cursor, forge a
// line, or make one name look like another.
//
//	visible.Line("a\x1b[2Jb")   // a\x1b[2Jb, on one line
//	visible.Lines("a\n\u202eb") // a, and below it \u202eb
//	visible.JSON(text)          // the same JSON value, with escapes of JSON
//	visible.Word("a b")         // 'a b', for a command line that a reader pastes
//
// All but Word change nothing in their own results, so text may pass through them twice. A backslash stays as it is:
// the result is for people. Programs read JSON.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line returns the text on one line. Line breaks and tabs become blanks.
func Line(text string) string {
	return replace(text, func(b *strings.Builder, r rune, _ byte) bool {
		if r == '\n' || r == '\t' {
			b.WriteByte(' ')
		}
		return r == '\n' || r == '\t'
	})
}

// Lines returns the text with its line breaks and tabs.
func Lines(text string) string {
	return replace(text, func(b *strings.Builder, r rune, _ byte) bool {
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
		}
		return r == '\n' || r == '\t'
	})
}

// JSON returns JSON with the same value that a terminal shows unchanged. A byte that is not UTF-8 becomes U+FFFD, as
// decoders read it.
func JSON(text string) string {
	return replace(text, func(b *strings.Builder, r rune, broken byte) bool {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteRune(r) // between values: JSON does not allow it within strings
		case broken != 0:
			b.WriteString(`\ufffd`)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
		return true
	})
}

// replace replaces characters that are not visible by the text that instead writes, or by an escape if it writes
// nothing. broken is the byte that is not UTF-8, or 0 for a character.
func replace(text string, instead func(b *strings.Builder, r rune, broken byte) bool) string {
	at := hidden(text)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(`\x1b`))
	b.WriteString(text[:at])
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		broken := byte(0)
		if r == utf8.RuneError && size == 1 {
			broken = text[at]
		}
		switch {
		case broken == 0 && isVisible(r):
			b.WriteString(text[at : at+size])
		case r == '\r' && at+1 < len(text) && text[at+1] == '\n': // a Windows line break is one
		case instead(&b, r, broken):
		case broken != 0:
			fmt.Fprintf(&b, `\x%02x`, broken)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		at += size
	}
	return b.String()
}

// hidden returns the offset of the first character that is not visible, or -1.
func hidden(text string) int {
	for i, r := range text {
		if r >= ' ' && r < utf8.RuneSelf && r != '\x7f' {
			continue
		}
		if !isVisible(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

// isVisible reports whether a reader sees the character, or the space that it takes.
func isVisible(r rune) bool {
	return (unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// All reports whether a reader sees every character of the text, on one line. Names must fulfill this.
func All(text string) bool { return hidden(text) < 0 }
