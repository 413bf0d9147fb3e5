package pagetest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/pagetest"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 23) // 115 columns
	span := "`a span of code`"
	for name, c := range map[string]struct{ page, want string }{
		"short":     {"a\n\nb\n", "a\n\nb\n"},
		"paragraph": {words + "of a line\n", words + "of a\nline\n"},
		"item":      {"- " + words + "of\n", "- " + words + "of\n"},
		"long item": {"- " + words + "of a line\n", "- " + words + "of\n  a line\n"},
		"code span": {words + span + "\n", strings.TrimSpace(words) + "\n" + span + "\n"},
		"long span": {"- `" + words + "x`: y\n", "- `" + words + "x`:\n  y\n"},
		"table":     {"| " + words + words + "|\n", "| " + words + words + "|\n"},
		"block":     {"```\n" + words + words + "\n```\n", "```\n" + words + words + "\n```\n"},
		"no end":    {words + "of a line", words + "of a\nline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, pagetest.Wrap(c.page)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
