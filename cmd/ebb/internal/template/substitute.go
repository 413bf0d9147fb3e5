package template

import (
	"regexp"
	"strings"
)

// placeholder is a placeholder in a text: ${Name}.
var placeholder = regexp.MustCompile(`\$\{([^{}\n"]{1,300})\}`)

// An Edit says that a part of a text was replaced: the bytes from At on, which were Old bytes at From.
type Edit struct{ At, New, From, Old int }

// Edits are the parts of a text that were replaced, in order.
type Edits []Edit

// Back returns the offset in the original text of an offset in the new one.
func (e Edits) Back(offset int) int {
	back := offset
	for _, edit := range e {
		switch {
		case offset < edit.At:
			return back
		case offset < edit.At+edit.New:
			return edit.From
		}
		back = offset - (edit.At + edit.New) + edit.From + edit.Old
	}
	return back
}

// substitute replaces the placeholders that have a value. If the text gets larger than most bytes, it returns a text
// just over the limit.
func substitute(s string, value func(name string) (string, bool), most int) (string, Edits) {
	var b strings.Builder
	var edits Edits
	end := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(s, -1) {
		with, is := value(s[at[2]:at[3]])
		if !is {
			continue
		}
		b.WriteString(s[end:at[0]])
		edits = append(edits, Edit{At: b.Len(), New: len(with), From: at[0], Old: at[1] - at[0]})
		end = at[1]
		if over := b.Len() + len(with) - most; over > 0 {
			b.WriteString(with[:max(len(with)-over+1, 0)])
			return b.String(), edits
		}
		b.WriteString(with)
	}
	b.WriteString(s[end:])
	return b.String(), edits
}
