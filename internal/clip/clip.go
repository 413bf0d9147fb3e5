// Package clip bounds texts.
package clip

import "unicode/utf8"

// Text returns the text, or its first bytes, up to most, and an ellipsis. It does not split a character. It does not
// shorten its own result further.
func Text(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
