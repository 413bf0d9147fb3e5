package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// packages is the import order: a package imports itself and the packages to its left. Each stands for all packages below it, too.
// Package worker is leftmost: it imports no other package of Ebb.
var packages = []string{
	"worker", "states", "atom", "flow/grow", "flow", "storage", "engine", "jobs", "conductor", "server", "cmd", "examples", "bench", "tools",
}

// commandPackages is the import order within the command.
var commandPackages = []string{
	"cmd/ebb/internal/document", "cmd/ebb/internal/eventpattern", "cmd/ebb/internal/template", "cmd/ebb/internal/definition", "cmd/ebb/internal/view",
	"cmd/ebb/internal/virtualtime", "cmd/ebb/internal/draft",
	"cmd/ebb/internal/casetest", "cmd/ebb/internal/exit", "cmd/ebb/internal/retention", "cmd/ebb/internal/sdnotify",
	"cmd/ebb/internal/session", "cmd/ebb/internal/doctor", "cmd/ebb/internal/drive", "cmd/ebb/internal/command", "cmd/ebb",
}

// siblings says which packages may import packages beside them: the services of AWS are served in one wire protocol.
var siblings = map[string][]string{
	"server/sfn": {"server/aws"}, "server/swf": {"server/aws"}, "server/internal/records": {"server/aws"},
	"server/lambda":  {"server/aws"},
	"server/awstest": {"server/aws", "server/sfn", "server/swf"},
}

// internalUsers says which folders may import each package below internal/.
// Such a package imports none of the packages in the import order, unless internalOrder gives it a place there.
var internalUsers = map[string][]string{
	"internal/backend": { // the contract between the engine and its stores
		"storage/sqlstore", "storage/memstore", "storage/internal", "internal/codec", "internal/faultstore", "internal/failat",
		"internal/enginebench", "internal/gauge", "engine", "jobs", "conductor", "server", "cmd", "bench",
		"internal/inspect",
		"internal/runfilter",
	},
	"internal/paging":       {"storage", "internal/backend"},                                                                                              // lists that are larger than memory
	"internal/inspect":      {"internal/runfilter", "jobs/bulk", "server/api", "server/console", "cmd"},                                                   // what people are told of a run
	"internal/runfilter":    {"jobs/bulk", "server/api", "server/console", "cmd"},                                                                         // the filter of runs that people type
	"internal/planview":     {"engine", "internal/inspect"},                                                                                               // the stored picture of a plan
	"internal/archtest":     {},                                                                                                                           // tests only
	"internal/awaited":      {"storage", "engine", "jobs", "conductor", "internal/inspect", "internal/planview"},                                          // what atoms take from outside
	"internal/boundedcache": {"engine", "conductor", "cmd", "internal/inspect"},                                                                           // values that were used last
	"internal/buildinfo":    {"server", "cmd"},                                                                                                            // the version of the program
	"internal/codec":        {"storage/sqlstore", "storage/memstore", "storage/internal/storagetest", "engine", "internal/inspect", "internal/runfilter"}, // the form in which stores keep records
	"internal/clip":         {"internal/guard", "atom", "flow", "engine", "cmd"},                                                                          // texts that are cut off
	"internal/childtest":    {},                                                                                                                           // tests only
	"internal/conformance":  {"engine/internal/taskflowtest"},                                                                                             // tests only
	"internal/crashdisk":    {},                                                                                                                           // tests only
	"internal/cron":         {"jobs"},                                                                                                                     // when schedules tick
	"internal/stepgraph":    {"flow"},                                                                                                                     // what stays done before a failure
	"internal/digraph":      {"flow/asl", "flow/sm4c"},                                                                                                    // loops of states
	"internal/awsmodels":    {},                                                                                                                           // writes what awsshape reads
	"internal/awslines":     {"engine/awscall", "internal/awsshape"},                                                                                      // descriptions of AWS's services
	"internal/awsshape":     {"flow/asl", "internal/awsmodels"},                                                                                           // what services of AWS answer
	"internal/enginebench":  {"cmd"},                                                                                                                      // ebb bench
	"internal/ecmaregexp":   {"internal/jsonata"},                                                                                                         // the regular expressions of JSONata
	"internal/faultstore":   {},                                                                                                                           // tests only
	"internal/failat":       {"engine/enginetest", "cmd"},                                                                                                 // tries every failure and crash
	"internal/failpoint":    {"storage", "engine", "cmd"},                                                                                                 // where a test may kill the process
	"internal/filelock":     {"storage/sqlstore", "internal/childtest"},                                                                                   // the write queue and the owners' locks of SQLite files
	"internal/gauge":        {"server/metrics", "cmd"},                                                                                                    // the numbers of metrics and of ebb doctor
	"internal/hcslog":       {"storage/sqlstore", "engine", "conductor", "cmd"},                                                                           // hclog and slog for each other
	"internal/logevent":     {"storage/sqlstore", "engine", "conductor", "server", "cmd", "internal/memorybudget"},                                        // names of what is logged
	"internal/jsonata":      {"flow/asl"},                                                                                                                 // a query language of the States Language
	"internal/jsonpath":     {"flow/asl"},                                                                                                                 // the other one, in its dialect
	"internal/jq":           {"flow/sm4c"},                                                                                                                // the query language of State Machines For Cloud
	"internal/jsonschema":   {"atom", "engine", "conductor", "internal/awaited", "internal/planview"},                                                     // the JSON of Go types
	"internal/jsontext":     {"engine/grpc", "flow", "internal/jq", "internal/jsonpath", "server"},                                                        // definitions with places, and data
	"internal/spelling":     {"flow", "engine", "internal/jq", "cmd", "internal/runfilter"},                                                               // which name was meant
	"internal/visible":      {"flow/draw", "storage", "internal/backend", "internal/inspect", "server/api", "server/console", "server/lambda", "cmd"},     // text from outside, as it is shown
	"internal/redact":       {"atom", "flow/sm4c", "storage/sqlstore", "engine", "server", "cmd", "internal/webclient", "internal/inspect"},               // secrets in URLs and the like
	"internal/gojson":       {"atom", "flow", "engine"},                                                                                                   // Go types and values that JSON does not keep
	"internal/notcalled":    {"atom", "flow", "engine"},                                                                                                   // errors of tasks that were not called
	"internal/guard":        {"atom", "engine", "conductor"},                                                                                              // calls of code of users
	"internal/regularfile":  {"engine/tasks", "server", "cmd"},                                                                                            // files that a definition names
	"internal/longtest":     {"storage/internal/storagetest"},                                                                                             // tests only
	"internal/limitedfile":  {"server", "cmd"},                                                                                                            // files that users name
	"internal/webclient":    {"engine", "server", "cmd"},                                                                                                  // asks servers, within bounds
	"internal/memorybudget": {"engine", "cmd"},                                                                                                            // how much memory the process may have
	"internal/webscope":     {"cmd"},                                                                                                                      // what --allow allows
	"internal/sigv4":        {"engine/awscall", "server/aws", "bench/serve", "cmd"},                                                                       // signatures of AWS
	"internal/supervisor":   {"engine/tasks", "server/lambda"},                                                                                            // ends programs with Ebb
	"internal/tasktoken":    {"engine", "server/api", "server/console"},                                                                                   // tokens of parties that end atoms
	"internal/nodepath":     {"flow", "storage", "engine", "server", "cmd", "internal/inspect", "internal/backend"},                                       // the paths of nodes
	"internal/pagetest":     {"internal/conformance"},                                                                                                     // tests that write pages
	"internal/postgrestest": {},                                                                                                                           // tests only
}

// internalOrder gives packages below internal/ the place of a package in the import order.
var internalOrder = map[string]string{
	"internal/backend":     "storage",
	"internal/awaited":     "flow",
	"internal/codec":       "storage",
	"internal/enginebench": "engine",
	"internal/failat":      "engine",
	"internal/faultstore":  "storage",
	"internal/gauge":       "engine",
	"internal/inspect":     "engine",
	"internal/planview":    "storage",
	"internal/runfilter":   "engine",
}

// TestImportOrder checks every import of non-test code in the workspace. Tests may import packages to the right,
// because running a language tests it.
func TestImportOrder(t *testing.T) {
	t.Parallel()
	misplaced := map[string]bool{}
	walk(t, ".", func(name string) {
		if !isCode(name) {
			return
		}
		from := path.Dir(name)
		if err := place(from); err != nil {
			if !misplaced[from] {
				t.Error(err)
			}
			misplaced[from] = true
			return
		}
		for _, spec := range parse(t, token.NewFileSet(), name, nil, parser.ImportsOnly).Imports {
			if to, ours := inProject(importPath(t, spec)); ours {
				if err := mayImport(from, to); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
}

// place returns an error for a package that is in no table.
func place(pkg string) error {
	if _, known := internalUsers[pkg]; known || orderOf(pkg) >= 0 {
		return nil
	}
	return fmt.Errorf("package %s has no place in the import order: add it to the tables of internal/archtest/order_test.go", pkg)
}

// mayImport returns nil if package from may import package to. Both are folders.
func mayImport(from, to string) error {
	if within(to, "internal") {
		for _, user := range internalUsers[to] {
			if within(from, user) {
				return nil
			}
		}
		return fmt.Errorf("%s imports %s, which is for %v only", from, to, internalUsers[to])
	}
	if beside, placed := internalOrder[from]; placed {
		from = path.Join(beside, from)
	}
	left, right := orderOf(from), orderOf(to)
	switch {
	case slices.Contains(siblings[from], to):
		return nil
	case left < 0:
		return fmt.Errorf("%s imports %s: a package below internal/ imports no package of the import order", from, to)
	case right < 0:
		return fmt.Errorf("%s imports %s, which has no place in the import order", from, to)
	case right > left:
		return fmt.Errorf("%s imports %s: %s stands to the right of %s", from, to, packages[right], packages[left])
	case packages[right] == "cmd" && !slices.Contains(commandPackages[:slices.Index(commandPackages, from)+1], to):
		return fmt.Errorf("%s imports %s, which is not to its left among %v", from, to, commandPackages)
	case right == left && packages[left] != "cmd" && !within(from, to) && !strings.Contains(to, "/internal/"):
		return fmt.Errorf("%s imports %s: a subpackage imports its parent, and a package imports neither its siblings nor its own subpackages", from, to)
	}
	return nil
}

// orderOf returns the index of a package, or of the package above it, in the import order, or -1.
func orderOf(pkg string) int {
	return slices.IndexFunc(packages, func(placed string) bool { return within(pkg, placed) })
}

// TestMayImport shows that mayImport refuses imports against the order.
func TestMayImport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"atom", "states", true},
		{"states", "atom", false},
		{"flow/asl", "flow", true},
		{"flow", "flow/asl", false},
		{"flow", "flow/grow", true},
		{"flow/asl", "flow/grow", true},
		{"flow/grow", "flow", false},
		{"flow/asl", "flow/draw", false},
		{"flow/asl", "storage", false},
		{"flow/asl", "engine", false},
		{"flow/draw", "engine", false},
		{"engine", "engine/internal/scheduler", true},
		{"engine", "storage", true},
		{"storage", "storage/sqlstore", false},
		{"storage/sqlstore", "storage", true},
		{"internal/codec", "storage", true},
		{"internal/codec", "engine", false},
		{"jobs", "conductor", false},
		{"conductor", "server", false},
		{"server/workers", "worker", true},
		{"server/sfn", "server/aws", true},
		{"server/aws", "server/sfn", false},
		{"worker", "atom", false},
		{"engine", ".", false},
		{"cmd/ebb", "cmd/ebb/internal/view", true},
		{"cmd/ebb/internal/definition", "cmd/ebb/internal/document", true},
		{"cmd/ebb/internal/definition", "cmd/ebb/internal/view", false},
		{"engine", "cmd/ebb", false},
		{"flow/asl", "internal/jsonpath", true},
		{"engine", "internal/jsonpath", false},
		{"storage/sqlstore", "internal/failpoint", true},
		{"atom", "internal/failpoint", false},
		{"engine", "internal/unheard-of", false},
		{"internal/jsonpath", "states", false},
	} {
		if got := mayImport(c.from, c.to) == nil; got != c.want {
			t.Errorf("%s imports %s: allowed = %t, want %t", c.from, c.to, got, c.want)
		}
	}
	for pkg, want := range map[string]bool{
		"flow/asl": true, "internal/jsonpath": true, "util": false, "internal/util": false, ".": false,
	} {
		if got := place(pkg) == nil; got != want {
			t.Errorf("package %s has a place = %t, want %t", pkg, got, want)
		}
	}
}
