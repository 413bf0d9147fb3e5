package visible

import "strings"

// plain are the characters, beside A to Z and digits, that no shell changes within a word.
const plain = "_@%+=:,./#-"

// Word returns the text as one word of a shell's command line, for a command that a reader pastes. It quotes a text
// that a shell would change or split.
func Word(text string) string {
	text = Line(text)
	changed := func(r rune) bool {
		isWord := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		return !isWord && (r < '0' || r > '9') && !strings.ContainsRune(plain, r)
	}
	if text != "" && text[0] != '#' && !strings.ContainsFunc(text, changed) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
