package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// purePackages are folders whose code only depends on its arguments. This includes all folders below them, and the
// packages of internal/ that they use.
var purePackages = []string{
	"states", "atom", "flow", "internal/awsshape", "internal/digraph", "internal/ecmaregexp", "internal/jq", "internal/jsonata", "internal/jsonschema", "internal/jsonpath", "internal/jsontext", "internal/spelling", "internal/stepgraph", "internal/visible", "internal/redact",
	"internal/inspect", "engine/internal/scheduler", "internal/cron",
}

// impureImports are packages of the standard library, with all packages below them, that reach the outside world.
var impureImports = []string{
	"crypto/rand", "database/sql", "log", "math/rand", "net", "os", "plugin", "syscall",
}

// pureImports are exceptions to impureImports, with the reason.
var pureImports = map[string]string{
	"net/url": "reads and writes text, opens nothing",
}

// namedImports says which impure packages of the standard library a pure folder may import for the names of their types, with the reason.
var namedImports = map[string]map[string]string{
	"atom": {
		"database/sql": "a task is handed a transaction, which the store opens",
	},
}

// outsideImports says which third-party modules a pure folder may import, with the reason. For other folders, depguard
// has the list.
var outsideImports = map[string]map[string]string{
	"atom":        {"github.com/hashicorp/go-hclog": "a task is handed a logger, which the engine makes"},
	"internal/jq": {"github.com/itchyny/gojq": "an interpreter, kept within bounds"},
	"states":      {"github.com/looplab/fsm": "the transition tables are written as its definitions"},
}

// impureNames are the names of otherwise pure packages that read the clock, wait, or start a goroutine.
var impureNames = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc"},
}

// TestPurePackages reads the non-test code of the pure packages.
func TestPurePackages(t *testing.T) {
	t.Parallel()
	for _, folder := range purePackages {
		files := 0
		walk(t, folder, func(name string) {
			if isCode(name) {
				files++
				for _, fault := range impurities(t, name, nil) {
					t.Error(fault)
				}
			}
		})
		if files == 0 {
			t.Errorf("pure package %s has no code: has it moved?", folder)
		}
	}
}

// impurities returns the impure parts of a file. The source is read from the file, named below the root, unless it is
// given.
func impurities(t *testing.T, name string, source any) []string {
	t.Helper()
	fset := token.NewFileSet()
	file := parse(t, fset, name, source, parser.SkipObjectResolution)
	var faults []string
	report := func(at ast.Node, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s: %s", fset.Position(at.Pos()), fmt.Sprintf(format, args...)))
	}

	watched := map[string][]string{} // by the package's name in the file
	for _, spec := range file.Imports {
		imported := importPath(t, spec)
		if fault := impureImport(path.Dir(name), imported); fault != "" {
			report(spec, "%s", fault)
		}
		if names, ok := impureNames[imported]; ok {
			local := path.Base(imported)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			if local == "." {
				report(spec, "a dot import hides which names of %s are used", imported)
			}
			watched[local] = names
		}
	}

	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "a pure package starts no goroutine: let the engine's driver do it")
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(watched[pkg.Name], n.Sel.Name) {
				report(n, "a pure package does not use %s.%s: take the time as an argument", pkg.Name, n.Sel.Name)
			}
		}
		return true
	})
	return faults
}

// impureImport says why a pure folder may not import a package. It returns "" for an allowed one.
func impureImport(folder, imported string) string {
	if _, ours := inProject(imported); ours {
		return "" // TestImportOrder checks these
	}
	if host, _, _ := strings.Cut(imported, "/"); strings.Contains(host, ".") {
		for outside := range outsideImports[folder] {
			if within(imported, outside) {
				return ""
			}
		}
		return fmt.Sprintf("pure package %s imports %s, which outsideImports does not list", folder, imported)
	}
	if _, pure := pureImports[imported]; pure {
		return ""
	}
	if _, named := namedImports[folder][imported]; named {
		return ""
	}
	for _, impure := range impureImports {
		if within(imported, impure) {
			return fmt.Sprintf("pure package %s imports %s, which reaches outside", folder, imported)
		}
	}
	return ""
}

// TestImpurities shows that impurities finds impure code.
func TestImpurities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, folder, source string
		want                 int
	}{
		{"pure", "flow", `import ("net/url"; "time"); var u url.URL; const d = time.Second; func f(t time.Time) time.Time { return t.Add(d) }`, 0},
		{"clock", "flow", `import "time"; var t = time.Now()`, 1},
		{"clock under another name", "flow", `import clock "time"; var now = clock.Now`, 1},
		{"dot import", "flow", `import . "time"; var t = Now()`, 1},
		{"deadline", "atom", `import "context"; func f(c context.Context) { context.WithTimeout(c, 1) }`, 1},
		{"goroutine", "flow/asl", `func f() { go f() }`, 1},
		{"output", "flow/draw", `import ("os"; "net/http"; "math/rand/v2")`, 3},
		{"fsm in states", "states", `import "github.com/looplab/fsm"`, 0},
		{"fsm in flow", "flow", `import "github.com/looplab/fsm"`, 1},
		{"a type by name", "atom", `import "database/sql"; type tx = *sql.Tx`, 0},
		{"a type by name, elsewhere", "flow", `import "database/sql"; type tx = *sql.Tx`, 1},
		{"own package", "flow", `import "github.com/ebbflow/ebb/atom"`, 0},
	} {
		got := impurities(t, c.folder+"/x.go", "package p; "+c.source)
		if len(got) != c.want {
			t.Errorf("%s: %d faults, want %d: %q", c.name, len(got), c.want, got)
		}
	}
}
