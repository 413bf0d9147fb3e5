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

// modulePath is the path of the root module. The path of each package is modulePath and the package's folder, also in
// nested modules.
const modulePath = "github.com/ebbflow/ebb"

// root is the root of the checkout, relative to this package's folder, in which go test runs it.
var root = filepath.Join("..", "..")

// walk calls visit with the name, below the root, of each file of a folder that the go command would read. The test
// reads the tree itself, not by `go list`. So it sees the code for every system, and go test's cache knows which files
// it read.
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

// isCode reports whether a file is Go code and not a test.
func isCode(name string) bool {
	return path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go")
}

// parse returns a file's syntax tree. The source is read from the file, named below the root, unless it is given.
func parse(t *testing.T, fset *token.FileSet, name string, source any, mode parser.Mode) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), source, mode)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// importPath returns the path in an import declaration.
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

// within reports whether a path is the named folder, or below it.
func within(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}
