package ecmaregexp_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/ecmaregexp"
)

// The expected results are those of ECMAScript.
func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, flags, text string
		from                 int
		want                 []int
	}{
		{"b+", "", "abbb", 0, []int{1, 4}},
		{"b+?", "", "abbb", 0, []int{1, 2}},
		{"b", "", "abab", 2, []int{3, 4}},
		{"x", "", "abc", 0, nil},
		{"", "", "abc", 3, []int{3, 3}},
		{"a|ab", "", "ab", 0, []int{0, 1}},
		{"((a)|(ab))((c)|(bc))", "", "abc", 0, []int{0, 3, 0, 1, 0, 1, -1, -1, 1, 3, -1, -1, 1, 3}},
		{"(z)((a+)?(b+)?(c))*", "", "zaacbbbcac", 0, []int{0, 10, 0, 1, 8, 10, 8, 9, -1, -1, 9, 10}},
		{"(a*)*", "", "b", 0, []int{0, 0, -1, -1}},
		{`(a*)b\1+`, "", "baaaac", 0, []int{0, 1, 0, 0}},
		{`(?=(a+))a*b\1`, "", "baaabac", 0, []int{3, 6, 3, 4}},
		{`(.*?)a(?!(a+)b\2c)\2(.*)`, "", "baaabaac", 0, []int{0, 8, 0, 2, -1, -1, 3, 8}},
		{`(?<=\$)\d+(\.\d*)?`, "", "cost $10.50", 0, []int{6, 11, 8, 11}},
		{`(?<!\$)\b\d+`, "", "$10 20", 0, []int{4, 6}},
		{`(?<=(\d+)(\d+))$`, "", "1053", 0, []int{4, 4, 0, 1, 1, 4}},
		{`(?<year>\d{4})-(?<month>\d\d)\k<year>?`, "", "on 2025-012025", 0, []int{3, 14, 3, 7, 8, 10}},
		{"^b", "", "a\nb", 0, nil},
		{"^b$", "m", "a\nb\nc", 0, []int{2, 3}},
		{"a.c", "", "a\nc", 0, nil},
		{"ÉTÉ", "i", "été", 0, []int{0, 5}},
		{"[à-ý]", "i", "É", 0, []int{0, 2}},
		{`\u00e9\x41\cA\0`, "", "éA\x01\x00", 0, []int{0, 5}},
		{`\ud83d\ude00`, "", "😀", 0, []int{0, 4}},
		{`[^\d\s]+`, "", "1 ab2", 0, []int{2, 4}},
		{`\s+`, "", "a\u00a0\u3000 \v\tb", 0, []int{6, 9}},
		{`a{,2}`, "", "a{,2}", 0, []int{0, 5}},
		{`a{2,3}`, "", "aaaa", 0, []int{0, 3}},
		{`(?:ab){2,3}?c?`, "", "ababab", 0, []int{0, 4}},
		{`[]`, "", "a", 0, nil},
		{`[^]`, "", "\n", 0, []int{0, 1}},
		{`\bfoo\b`, "", "a foo.", 0, []int{2, 5}},
		{`\Boo`, "", "foo", 0, []int{1, 3}},
	} {
		re, err := ecmaregexp.Compile(c.pattern, c.flags)
		if err != nil {
			t.Errorf("/%s/: %v", c.pattern, err)
			continue
		}
		budget := 10_000
		got, err := re.Match(c.text, c.from, &budget)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("/%s/%s on %q from %d: %v, %v; want %v", c.pattern, c.flags, c.text, c.from, got, err, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for pattern, offset := range map[string]int{
		"(":                   0,
		"a)":                  1,
		"a**":                 2,
		"*":                   0,
		"[b-a]":               4,
		"[a":                  0,
		`a\`:                  2,
		"a{2,1}":              6,
		"(?<a>.)(?<a>.)":      12,
		`(?<a>.)\k<b>`:        12,
		"(?x)":                1,
		"^*":                  2,
		"(?:a{20000}){20000}": 0,
		"(?<=a)+":             7,
		strings.Repeat("(", 500) + strings.Repeat(")", 500): 100,
		strings.Repeat("a", 9000):                           0,
	} {
		_, err := ecmaregexp.Compile(pattern, "")
		wrong, ok := errors.AsType[*ecmaregexp.SyntaxError](err)
		if !ok || wrong.Offset != offset {
			t.Errorf("/%.40s/: %v; want a problem at %d", pattern, err, offset)
		}
	}
}

// TestBudget shows that patterns with exploding time or memory end.
func TestBudget(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"(a+)+$", "(a|aa)*b", "(a*)*b", `(a*)(a*)(a*)(a*)(a*)\1\2\3\4\5b`, "(?=(a+)+$)x",
		"(?:a?){900}(?:a){900}b",
	} {
		re, err := ecmaregexp.Compile(pattern, "")
		if err != nil {
			t.Fatalf("/%s/: %v", pattern, err)
		}
		budget := 1_000_000
		_, err = re.Match(strings.Repeat("a", 5000)+"!", 0, &budget)
		if !errors.Is(err, ecmaregexp.ErrBudget) || budget > 1_000_000 {
			t.Errorf("/%s/: %v, %d steps left; want the budget to be used up", pattern, err, budget)
		}
	}
	re, err := ecmaregexp.Compile(`(?:\w+\s)*end`, "")
	if err != nil {
		t.Fatal(err)
	}
	budget := 1_000_000
	if at, err := re.Match(strings.Repeat("word ", 2000)+"end", 0, &budget); at == nil || err != nil {
		t.Errorf("an honest pattern on 10 KB: %v, %v", at, err)
	}
}

// For any pattern and text, matching ends within the budget, and a match lies within the text.
func FuzzMatch(f *testing.F) {
	f.Add("(a+)+b|c", "i", "aaab")
	f.Add(`(?<n>x)(?!y)\k<n>*?[^\d-z]{2,3}`, "m", "xx\n12ab")
	f.Add(`(?<=a(b)?)\1^$\b`, "", "ab")
	f.Fuzz(func(t *testing.T, pattern, flags, text string) {
		re, err := ecmaregexp.Compile(pattern, flags)
		if err != nil {
			if wrong, ok := errors.AsType[*ecmaregexp.SyntaxError](err); !ok || wrong.Offset < 0 || wrong.Offset > len(pattern) {
				t.Fatalf("refused without a place: %v", err)
			}
			return
		}
		budget := 20_000
		at, err := re.Match(text, 0, &budget)
		if err != nil && !errors.Is(err, ecmaregexp.ErrBudget) {
			t.Fatal(err)
		}
		if at == nil {
			return
		}
		if len(at) != 2*(re.Groups()+1) || at[0] < 0 || at[1] > len(text) || at[0] > at[1] {
			t.Fatalf("/%s/%s on %q: %v", pattern, flags, text, at)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	re, err := ecmaregexp.Compile(`(\w+)@(\w+)\.com`, "")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		budget := 10_000
		if at, err := re.Match("send it to nobody@example.com, please", 0, &budget); at == nil || err != nil {
			b.Fatal(at, err)
		}
	}
}
