package storage

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// RunText is a text of a run that a [RunTerm] is about.
type RunText uint8

// The texts of a run.
const (
	TextID         RunText = iota // Run.ID
	TextFlow                      // Run.Flow
	TextParent                    // Run.Parent
	TextDefinition                // Run.Definition
	TextCode                      // Run.Failure.Code
	TextLabel                     // value of the label RunTerm.Key
)

// A RunTerm is a condition on a text of a run. A run that has no such text, such as a run without the label, meets no
// condition. Of an empty text that is no label's value, this is so too.
type RunTerm struct {
	Of     RunText
	Key    string   // key of the label, if Of is TextLabel
	Is     []string // the text is one of these,
	Begins []string // or begins with one of these
	Not    bool     // the condition must not hold
}

const (
	maxTerms = 64
	// maxTermTexts is the number of texts of a term, so that no database refuses the number of its arguments.
	maxTermTexts = 128
)

// check returns an error that wraps ErrInvalid if no store can answer the term.
func (t *RunTerm) check() error {
	switch {
	case t.Of > TextLabel:
		return fmt.Errorf("%w: a term is about text %d of a run: use one of TextID to TextLabel", ErrInvalid, t.Of)
	case (t.Of == TextLabel) != (t.Key != ""):
		return fmt.Errorf("%w: a term has the label key %.50q: set it for TextLabel, and only then", ErrInvalid, t.Key)
	case len(t.Is)+len(t.Begins) > maxTermTexts:
		return fmt.Errorf("%w: a term has %d texts: use at most %d", ErrInvalid, len(t.Is)+len(t.Begins), maxTermTexts)
	}
	for _, text := range slices.Concat([]string{t.Key}, t.Is, t.Begins) {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("%w: a term has the text %.50q: use UTF-8 without characters of value 0", ErrInvalid, text)
		}
	}
	return nil
}

// Holds reports whether the run fulfills the term.
func (t *RunTerm) Holds(r *Run) bool {
	text, has := t.text(r)
	return t.Not != (has && (slices.Contains(t.Is, text) ||
		slices.ContainsFunc(t.Begins, func(begin string) bool { return strings.HasPrefix(text, begin) })))
}

// text returns the text that the term is about, and whether the run has it.
func (t *RunTerm) text(r *Run) (text string, has bool) {
	switch t.Of {
	case TextID:
		text = r.ID
	case TextFlow:
		text = r.Flow
	case TextParent:
		text = r.Parent
	case TextDefinition:
		text = r.Definition
	case TextCode:
		if r.Failure != nil {
			text = r.Failure.Code
		}
	default:
		text, has = r.Labels[t.Key]
		return text, has
	}
	return text, text != ""
}
