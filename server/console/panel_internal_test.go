package console

import (
	"strings"
	"testing"
)

// TestIndented: JSON is shown on several lines with its numbers as they are. What would become large stays as it is.
func TestIndented(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 4000) + strings.Repeat("]", 4000)
	wide := "[" + strings.Repeat("1,", 3000) + "1]"
	for text, want := range map[string]string{
		`{"n":12345678901234567890.10,"s":"a"}`: "{\n  \"n\": 12345678901234567890.10,\n  \"s\": \"a\"\n}",
		`"text"`:                                `"text"`, "panic: no": "panic: no", "{": "{", deep: deep, wide: wide,
	} {
		if got := indented(text); got != want {
			t.Errorf("%.40q becomes %.80q", text, got)
		}
	}
}
