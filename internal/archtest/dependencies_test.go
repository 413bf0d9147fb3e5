package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	// directRequire finds the path in a require line of go.mod that nothing follows, so neither "// indirect" nor "=>".
	directRequire = regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v\S+$`)
	// dependencyRow finds a module's line in docs/reference/dependencies.md.
	dependencyRow = regexp.MustCompile("(?m)^\\| `(\\S+)` \\|")
)

// TestDependenciesReasoned compares the direct requires of the workspace's modules with the page of reasons.
func TestDependenciesReasoned(t *testing.T) {
	t.Parallel()
	var required []string
	walk(t, ".", func(name string) {
		if path.Base(name) == "go.mod" {
			required = append(required, firstGroups(t, directRequire, name)...)
		}
	})
	required = slices.DeleteFunc(required, func(module string) bool {
		_, ours := inProject(module)
		return ours
	})
	slices.Sort(required)
	required = slices.Compact(required)

	reasoned := firstGroups(t, dependencyRow, "docs/reference/dependencies.md")
	slices.Sort(reasoned)
	if diff := cmp.Diff(required, reasoned); diff != "" || len(required) == 0 {
		t.Errorf("direct requires of go.mod files (-) and lines of docs/reference/dependencies.md (+) differ:\n%s", diff)
	}
}

// firstGroups returns what the first group of a pattern matches in a file named below the root.
func firstGroups(t *testing.T, pattern *regexp.Regexp, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range pattern.FindAllSubmatch(text, -1) {
		found = append(found, string(match[1]))
	}
	return found
}
