package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/clip"
)

// TestEnds keeps the beginning and the end of a text, in whole characters.
func TestEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 20).Draw(t, "most")
		got := clip.Ends(text, most)
		if len(text) <= most {
			if got != text {
				t.Errorf("%q became %q", text, got)
			}
			return
		}
		if len(got) > most+len("…") || !utf8.ValidString(got) {
			t.Errorf("%q became %q, for %d bytes", text, got, most)
		}
		begin, end, cut := strings.Cut(got, "…")
		if !cut || !strings.HasPrefix(text, begin) || !strings.Contains(text, "…") && !strings.HasSuffix(text, end) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
