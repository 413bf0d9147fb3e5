package console

import (
	"html"
	"regexp"
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

// TestFolded: each array and object that is in a value can be folded, and the text of the page is still the value.
func TestFolded(t *testing.T) {
	t.Parallel()
	tags := regexp.MustCompile(`<[^>]*>`)
	for text, folds := range map[string]int{
		`{"a":{"b":[1,{"c":"x{"}],"d":{}},"e":[],"f":12345678901234567890.10}`: 3, `[[1],[2,3]]`: 2, `{"a":"}"}`: 0,
		`"{"`: 0, `{}`: 0, "panic: {\nat [\n": 0, "{\n[\n}": 1, "{\n}\n}\n}": 0, "[\n[\n[": 0,
	} {
		shown, out := indented(text), &strings.Builder{}
		folded(shown).write(&writer{to: out})
		page := out.String()
		if got := html.UnescapeString(tags.ReplaceAllString(page, "")); got != shown || strings.Count(page, "<details") != folds {
			t.Errorf("%q is shown as %s", text, page)
		}
	}
}
