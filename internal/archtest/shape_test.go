package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The sizes that a reader can keep in mind.
const (
	maxFields      = 25 // of a struct, with the fields of embedded structs of its package
	maxMethodFiles = 8  // with methods of one type
)

// TestShape checks that the types of the engine are small: no struct has more than 25 fields, and no type has methods
// in more than eight files. A Command is a union, of which each kind has few fields. The Scheduler has a file of
// methods for each concept.
func TestShape(t *testing.T) {
	t.Parallel()
	dirs := []string{"../../engine"}
	inside, err := filepath.Glob("../../engine/internal/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(dirs, inside...) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		s := shapes{structs: map[string]*ast.StructType{}, methods: map[string]map[string]bool{}}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				s.read(t, file)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.structs)) {
			if n := s.fields(name); n > maxFields && name != "Command" {
				t.Errorf("%s: %s has %d fields; want %d at most", dir, name, n, maxFields)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.methods)) {
			if n := len(s.methods[name]); n > maxMethodFiles && name != "Scheduler" {
				t.Errorf("%s: %s has methods in %d files; want %d at most", dir, name, n, maxMethodFiles)
			}
		}
	}
}

// shapes are the types of a package.
type shapes struct {
	structs map[string]*ast.StructType
	methods map[string]map[string]bool // the files with methods of a type
}

func (s *shapes) read(t *testing.T, file string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok {
					if st, ok := ts.Type.(*ast.StructType); ok {
						s.structs[ts.Name.Name] = st
					}
				}
			}
		case *ast.FuncDecl:
			if d.Recv != nil {
				name := typeName(d.Recv.List[0].Type)
				if s.methods[name] == nil {
					s.methods[name] = map[string]bool{}
				}
				s.methods[name][file] = true
			}
		}
	}
}

// fields counts the fields of a struct.
func (s *shapes) fields(name string) (n int) {
	for _, field := range s.structs[name].Fields.List {
		switch embedded := typeName(field.Type); {
		case len(field.Names) > 0:
			n += len(field.Names)
		case s.structs[embedded] != nil:
			n += s.fields(embedded)
		default:
			n++
		}
	}
	return n
}

// typeName returns the name of a type of this package, or "".
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}
