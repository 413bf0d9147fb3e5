package visible_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/visible"
)

// TestWord quotes what a shell would split or change.
func TestWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "''", "Pay#2": "Pay#2", "a~1b": "'a~1b'", "#2": "'#2'", "Take stock": "'Take stock'", "Ship[3]/Pack": "'Ship[3]/Pack'",
		"it's": `'it'\''s'`, "order-17/ship@2.1": "order-17/ship@2.1", "größe": "größe", "$x": "'$x'", "a\nb": "'a b'",
	} {
		if got := visible.Word(text); got != want {
			t.Errorf("%q is %s; want %s", text, got, want)
		}
	}
}
