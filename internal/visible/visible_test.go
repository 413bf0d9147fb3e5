package visible_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/visible"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                             "",
		"Zürich, á\u3000δ, 🚢️ e\u0301": "Zürich, á\u3000δ, 🚢️ e\u0301",
		"two\nlines\tand\r\nmore":      "two lines and more",
		"\x1b[2J\a\r\x7f":              `\x1b[2J\x07\x0d\x7f`,
		"\u009b2J":                     `\x9b2J`,
		"txt.\u202eexe":                `txt.\u202eexe`,
		"\u2066\u2069\u200b\ufeff":     `\u2066\u2069\u200b\ufeff`,
		"a\u2028b\u2029":               `a\u2028b\u2029`,
		"\u3164\u115f\U000e0041":       `\u3164\u115f\U000e0041`,
		"\xff\xc0\xaf\xed\xa0\x80":     `\xff\xc0\xaf\xed\xa0\x80`,
		"\ufffd":                       "\ufffd",
		`C:\new\x1b`:                   `C:\new\x1b`,
	} {
		if got := visible.Line(given); got != want {
			t.Errorf("%q becomes %q; want %q", given, got, want)
		}
		if got := visible.All(given); got != (given == want) {
			t.Errorf("%q is visible: %t", given, got)
		}
	}
	if got := visible.Lines("a\r\n\tb\x1b"); got != "a\n\tb\\x1b" {
		t.Errorf("two lines become %q", got)
	}
}

// FuzzVisible: no result has a character that a reader does not see, a second pass changes nothing, and JSON keeps its
// value.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"", "a\x1b[31m\n", "\u202e\u2066", "\xff\xfe", "\U000e0001\u0085", "\r\n\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, made := range map[string]string{"Line": visible.Line(text), "Lines": visible.Lines(text)} {
			if name == "Lines" {
				made = strings.NewReplacer("\n", "", "\t", "").Replace(made)
			}
			if !utf8.ValidString(made) || strings.ContainsFunc(made, func(r rune) bool {
				return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp)
			}) {
				t.Errorf("%s of %q is %q", name, text, made)
			}
		}
		if line := visible.Line(text); visible.Line(line) != line || visible.Lines(line) != line {
			t.Errorf("%q is changed again", line)
		}
		raw, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var want, got map[string]string
		if json.Unmarshal(raw, &want) != nil {
			t.Fatal("encoding/json cannot read what it wrote")
		}
		if err := json.Unmarshal([]byte(visible.JSON(string(raw))), &got); err != nil ||
			got[strings.ToValidUTF8(text, "\ufffd")] != want[strings.ToValidUTF8(text, "\ufffd")] {
			t.Errorf("%s becomes %s: %v", raw, visible.JSON(string(raw)), err)
		}
	})
}
