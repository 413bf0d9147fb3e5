package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pathStep finds a row of the path from the result of a task to the database: a function and its file.
var pathStep = regexp.MustCompile("(?m)^\\| \\d+ \\| `(?:(\\w+)\\.)?(\\w+)` \\| `([\\w/]+\\.go)` \\|")

// TestPageOfCode looks for the functions that the page of the code's layout names, in the files that it names.
func TestPageOfCode(t *testing.T) {
	t.Parallel()
	steps := pathStep.FindAllStringSubmatch(textOf(t, "docs/explanation/code.md"), -1)
	if len(steps) < 15 {
		t.Errorf("found %d steps: has their form changed?", len(steps))
	}
	for _, step := range steps {
		if !declares(t, step[3], step[1], step[2]) {
			t.Errorf("%s declares no %s", step[3], strings.TrimPrefix(step[1]+"."+step[2], "."))
		}
	}
}

// declares reports whether the file, in one of the folders that the page means, has the function or method.
func declares(t *testing.T, file, receiver, name string) bool {
	t.Helper()
	for _, folder := range []string{"engine/internal", "storage/sqlstore", "."} {
		if _, err := os.Stat(filepath.Join(root, folder, file)); err != nil {
			continue
		}
		parsed := parse(t, token.NewFileSet(), filepath.ToSlash(filepath.Join(folder, file)), nil, parser.SkipObjectResolution)
		for _, decl := range parsed.Decls {
			f, is := decl.(*ast.FuncDecl)
			if is && f.Name.Name == name && receiverOf(f) == receiver {
				return true
			}
		}
	}
	return false
}

// receiverOf returns the name of the type of a method; "" for a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}
