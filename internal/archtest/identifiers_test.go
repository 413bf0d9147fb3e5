package archtest

import (
	"path"
	"regexp"
	"testing"
)

var (
	// identifier finds what a page names of a package, such as `storage.Atom.Status`.
	identifier = regexp.MustCompile("`\\*?([a-z][a-z0-9]*)\\.([A-Z]\\w*)(?:\\.([A-Z]\\w*))?")
	// packageName finds the name of a file's package.
	packageName = regexp.MustCompile(`(?m)^package (\w+)$`)
	// declared finds what a file exports. It also finds fields, and cannot tell types from functions.
	declared = regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const |\t)([A-Z]\w*)`)
)

// TestPagesNameDeclarations looks for the exported names that pages mention in a package of the repository.
func TestPagesNameDeclarations(t *testing.T) {
	t.Parallel()
	exported := map[string]map[string]bool{}
	anywhere := map[string]bool{} // types may be aliases, so their fields and methods may be in another package
	walk(t, ".", func(name string) {
		if !isCode(name) {
			return
		}
		text := textOf(t, name)
		pkg := packageName.FindStringSubmatch(text)
		if pkg == nil {
			t.Fatalf("%s has no package", name)
		}
		if exported[pkg[1]] == nil {
			exported[pkg[1]] = map[string]bool{}
		}
		for _, match := range declared.FindAllStringSubmatch(text, -1) {
			exported[pkg[1]][match[1]] = true
			anywhere[match[1]] = true
		}
	})
	found := 0
	walk(t, ".", func(name string) {
		if path.Ext(name) != ".md" {
			return
		}
		for _, match := range identifier.FindAllStringSubmatch(textOf(t, name), -1) {
			names, ours := exported[match[1]]
			if !ours {
				continue
			}
			found++
			if !names[match[2]] {
				t.Errorf("%s names %s, and package %s declares no %s", name, match[0][1:], match[1], match[2])
			}
			if member := match[3]; member != "" && !anywhere[member] {
				t.Errorf("%s names %s, and no package declares %s", name, match[0][1:], member)
			}
		}
	})
	if found < 300 {
		t.Errorf("found %d names: has their form changed?", found)
	}
}
