package grow_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/grow"
)

// TestCorrelationLabel: labels are texts that every database keeps, and short.
func TestCorrelationLabel(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, value := range []string{"7", strings.Repeat("7", 300), "a\x00b", "a\xffb", "ab"} {
		label := grow.CorrelationLabel("order", value)
		if len(label) > 210 || strings.Contains(label, "\x00") || !utf8.ValidString(label) || seen[label] {
			t.Errorf("the label of %.10q is %q", value, label)
		}
		seen[label] = true
	}
	if got := grow.CorrelationLabel("order", "7"); got != "event.order=7" {
		t.Errorf("the label is %q", got)
	}
}
