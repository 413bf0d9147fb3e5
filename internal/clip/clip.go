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

// Cause is the maximum number of bytes of a cause that another cause contains.
//
//limit:values cause of a child's failure, within the cause of its parent's failure | {B} | its innermost cause remains,
//limit:and or its beginning and its end
const Cause = 4 << 10

// Path is the maximum number of bytes of the path of an atom in a child run, within the path that its parent reports.
//
//limit:values path of an atom that failed in a child run, within that of its parent | {B} | its beginning and its end
//limit:and remain
const Path = 1 << 10

// Ends returns the text, or its beginning and its end, with an ellipsis between them: about most bytes. It does not
// split a character.
func Ends(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := len(text) - most/2
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return Text(text[:end], most/2) + text[end:]
}
