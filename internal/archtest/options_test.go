package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// maxOptions is the maximum number of options of an engine. A reader must learn all of them.
const maxOptions = 12

// TestEngineOptions: an engine has few options, and their names begin with With. The two ways
// to give a logger count as one.
func TestEngineOptions(t *testing.T) {
	t.Parallel()
	var options []string
	walk(t, "engine", func(name string) {
		if !isCode(name) || path.Dir(name) != "engine" {
			return
		}
		for _, decl := range parse(t, token.NewFileSet(), name, nil, parser.SkipObjectResolution).Decls {
			f, is := decl.(*ast.FuncDecl)
			if !is || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			result, is := f.Type.Results.List[0].Type.(*ast.Ident)
			if !is || result.Name != "Option" && result.Name != "InputOption" {
				continue
			}
			if !strings.HasPrefix(f.Name.Name, "With") {
				t.Errorf("%s: the option %s is called With something", name, f.Name.Name)
			}
			if f.Name.Name != "WithSlog" {
				options = append(options, f.Name.Name)
			}
		}
	})
	if len(options) > maxOptions || len(options) == 0 {
		t.Errorf("an engine has %d options, and may have %d: %v", len(options), maxOptions, options)
	}
}
