package tasktoken_test

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/tasktoken"
)

// TestHide hides each token, whatever stands around it, and nothing else.
func TestHide(t *testing.T) {
	t.Parallel()
	for range 1000 {
		token := tasktoken.New()
		for form, want := range map[string]string{
			`{"token":"%"}`: `{"token":"TOKEN"}`, `"line\n%"`: `"line\nTOKEN"`, "%": "TOKEN", "id-%.3 %": "id-TOKEN.3 TOKEN",
			"http://x/%?a=b": "http://x/TOKEN?a=b", "A%": "TOKEN",
		} {
			text := strings.ReplaceAll(form, "%", token)
			if got := string(tasktoken.Hide([]byte(text))); got != want {
				t.Fatalf("%s became %s", text, got)
			}
		}
		if got := string(tasktoken.Hide([]byte("token " + token[:20] + "…"))); got != "token TOKEN…" {
			t.Fatalf("the beginning of %s became %s", token, got)
		}
	}
	for _, text := range []string{
		"", "01JD8Z5Q4ZK7W3V9X0ABCDEFGH", "RESOURCE_EXHAUSTED: INTERNALSERVERERROR", strings.Repeat("A", 1000), "aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91",
	} {
		if got := string(tasktoken.Hide([]byte(text))); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}
