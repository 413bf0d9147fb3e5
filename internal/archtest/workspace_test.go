package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// modulePath is the path of the root module; every package's path is this and its folder, nested modules included.
const modulePath = "github.com/ebbflow/ebb"

// root is the top of the checkout, seen from this package's folder, where go test runs it.
var root = filepath.Join("..", "..")

// walk calls visit with the name, below the root, of every file of a folder that the go command would look at.
// The tree is read here, not by `go list`, so that code for every system is seen, and so that go test's cache knows what was read.
func walk(t *testing.T, folder string, visit func(name string)) {
	t.Helper()
	top := filepath.Join(root, filepath.FromSlash(folder))
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			others := d.Name() == "testdata" || d.Name() == "node_modules" || strings.ContainsAny(d.Name()[:1], "._")
			if file != top && others {
				return filepath.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err == nil {
			visit(filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Errorf("reading %s: %v", folder, err)
	}
}

// isCode reports whether a file is Go and no test.
func isCode(name string) bool {
	return path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go")
}

// parse returns a file's syntax tree. The source is read from the file, named below the root, unless given.
func parse(t *testing.T, fset *token.FileSet, name string, source any, mode parser.Mode) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), source, mode)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// importPath returns what an import declaration imports.
func importPath(t *testing.T, spec *ast.ImportSpec) string {
	t.Helper()
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		t.Fatal(err)
	}
	return imported
}

// inProject returns the folder of a package, and whether it belongs to this project.
func inProject(imported string) (folder string, ok bool) {
	if imported == modulePath {
		return ".", true
	}
	return strings.CutPrefix(imported, modulePath+"/")
}

// within reports whether a path is the named folder's or below it.
func within(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}
