package interop_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shownStep is a line of the tree that ebb show prints.
var shownStep = regexp.MustCompile(`^[│ ]*[├└] \S+ (\S+)`)

// TestTreeIsThatOfShow: the tree of a run has the steps that ebb show prints, in its order, and each once.
func TestTreeIsThatOfShow(t *testing.T) {
	t.Parallel()
	s := shared(t)
	b := open(t, look{1280, false, true})
	for _, run := range smallRuns {
		tree, _, _ := strings.Cut(command(t, s.dir, "show", run), "\nundone, last first")
		var want []string
		for line := range strings.Lines(tree) {
			if m := shownStep.FindStringSubmatch(line); m != nil && !strings.Contains(line, "… ") {
				want = append(want, m[1])
			}
		}
		b.visit(s.page("run", "id", run, "view", "tree"))
		got := b.texts(".tree li a")
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q of\n%s", run, got, want, tree)
		}
	}
}
