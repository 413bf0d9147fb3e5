package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/clip"
)

// TestText cuts texts at characters, and only once.
func TestText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 20).Draw(t, "most")
		got := clip.Text(text, most)
		switch {
		case len(text) <= most && got != text:
			t.Errorf("%q became %q", text, got)
		case len(got) > most+len("…") || !utf8.ValidString(got):
			t.Errorf("%q became %q, for %d bytes", text, got, most)
		case got != text && !strings.HasPrefix(text, strings.TrimSuffix(got, "…")):
			t.Errorf("%q became %q", text, got)
		case clip.Text(got, most) != got:
			t.Errorf("%q was cut to %q, then to %q", text, got, clip.Text(got, most))
		}
	})
}
