package sqlstore

import (
	"strings"
	"testing"
)

// TestForms: an update of many rows joins all its conditions to the sent rows, so that wrong statistics lead PostgreSQL
// to no other plan.
func TestForms(t *testing.T) {
	t.Parallel()
	for text := range forms {
		text, _, _ = strings.Cut(text, "ON CONFLICT") // which finds the row by its key
		_, where, updates := strings.Cut(strings.ReplaceAll(text, "\n", " "), " WHERE ")
		if !updates {
			continue
		}
		for condition := range strings.SplitSeq(where, " AND ") {
			if !strings.Contains(condition, "v.") {
				t.Errorf("%q is about the row alone, in\n%s", condition, text)
			}
		}
	}
}
