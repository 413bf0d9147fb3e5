package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"testing"
)

var (
	// identifier finds a package's name in a page, such as `storage.Atom.Status`.
	identifier = regexp.MustCompile("`\\*?([a-z][a-z0-9]*)\\.([A-Z]\\w*)(?:\\.([A-Z]\\w*))?")
	// declared finds the names that a file exports, fields and methods included.
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
		file := parse(t, token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		names := exported[file.Name.Name]
		if names == nil {
			names = map[string]bool{}
			exported[file.Name.Name] = names
		}
		for _, decl := range file.Decls {
			for _, declared := range declaredBy(decl) {
				names[declared] = true
			}
		}
		for _, match := range declared.FindAllStringSubmatch(textOf(t, name), -1) {
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

// declaredBy returns the names that a declaration adds to its package. A method adds none.
func declaredBy(decl ast.Decl) (names []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			names = append(names, decl.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}
