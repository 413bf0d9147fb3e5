package backend

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/storage"
)

const (
	maxTerms = 64
	// maxTermTexts is the number of texts of a term, so that no database refuses the number of its arguments.
	maxTermTexts = 128
)

// checkRunTerm returns an error that wraps ErrInvalid if no store can answer the term.
func checkRunTerm(t *storage.RunTerm) error {
	switch {
	case t.Of > storage.TextLabel:
		return fmt.Errorf("%w: a term is about text %d of a run: use one of TextID to TextLabel", storage.ErrInvalid, t.Of)
	case (t.Of == storage.TextLabel) != (t.Key != ""):
		return fmt.Errorf("%w: a term has the label key %.50q: set it for TextLabel, and only then",
			storage.ErrInvalid, t.Key)
	case len(t.Is)+len(t.Begins) > maxTermTexts:
		return fmt.Errorf("%w: a term has %d texts: use at most %d",
			storage.ErrInvalid, len(t.Is)+len(t.Begins), maxTermTexts)
	}
	for _, text := range slices.Concat([]string{t.Key}, t.Is, t.Begins) {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("%w: a term has the text %.50q: use UTF-8 without characters of value 0", storage.ErrInvalid, text)
		}
	}
	return nil
}

// TermHolds reports whether the run fulfills the term.
func TermHolds(t *storage.RunTerm, r *storage.Run) bool {
	text, has := termText(t, r)
	return t.Not != (has && (slices.Contains(t.Is, text) ||
		slices.ContainsFunc(t.Begins, func(begin string) bool { return strings.HasPrefix(text, begin) })))
}

// termText returns the text that the term is about, and whether the run has it.
func termText(t *storage.RunTerm, r *storage.Run) (text string, has bool) {
	switch t.Of {
	case storage.TextID:
		text = r.ID
	case storage.TextFlow:
		text = r.Flow
	case storage.TextParent:
		text = r.Parent
	case storage.TextDefinition:
		text = r.Definition
	case storage.TextCode:
		if r.Failure != nil {
			text = r.Failure.Code
		}
	default:
		text, has = r.Labels[t.Key]
		return text, has
	}
	return text, text != ""
}
