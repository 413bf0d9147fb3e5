package swf_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// observed has the tests that have seen each fault of each operation. Random tests and fuzz tests do not count.
var observed = struct {
	sync.Mutex

	tests map[string][]string // by operation and fault
	of    map[string]int      // how many a test sees
}{tests: map[string][]string{}, of: map[string]int{}}

// observe notes the answer to a request.
func observe(t *testing.T, operation string, a *answer) {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	if strings.HasPrefix(test, "Fuzz") || strings.Contains(test, "Property") {
		return
	}
	row := operation + " " + a.Code
	observed.Lock()
	defer observed.Unlock()
	if !slices.Contains(observed.tests[row], test) {
		observed.tests[row] = append(observed.tests[row], test)
		observed.of[test]++
	}
}

// faultsHeading begins the part of the page of tests that this package writes. Tests of flow/swf write the rest.
const faultsHeading = "\n## Faults of the API\n"

// faultsPage returns the part of the page, and whether a row has no test.
func faultsPage() (page string, incomplete bool) {
	var b strings.Builder
	b.WriteString(faultsHeading + "\nEach operation also answers `SerializationException` and `UnknownOperationException`, which " +
		"`server/aws: TestDecode`\nand `server/aws: TestAnswers` prove for all services. AWS also lists `LimitExceededFault` " +
		"for the operations on tags.\nEbb limits only the number of tags, which has its own fault. `DomainDeprecatedFault` " +
		"of other operations than\nDeprecateDomain is Ebb's choice: AWS's manual names none.\n\n" +
		"| operation | fault | test |\n|---|---|---|\n")
	for _, operation := range slices.Sorted(maps.Keys(faults)) {
		all := append(slices.Clone(faults[operation]), notPermitted, invalid)
		if operation != "ListDomains" { // it is about no domain
			all = append(all, throttled)
		}
		for _, fault := range all {
			tests := slices.Sorted(slices.Values(observed.tests[operation+" "+fault]))
			if len(tests) == 0 {
				incomplete = true
				tests = []string{"none"}
			}
			test := slices.MinFunc(tests, func(a, b string) int { return observed.of[a] - observed.of[b] })
			fmt.Fprintf(&b, "| %s | `%s` | `server/swf: %s` |\n", operation, fault, test)
		}
	}
	return b.String(), incomplete
}

// compareFaults compares the part of the page with docs/reference/swf-tests.md, or writes it.
func compareFaults() error {
	name := filepath.Join("..", "..", "docs", "reference", "swf-tests.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	page, incomplete := faultsPage()
	others, ours, _ := strings.Cut(string(text), faultsHeading)
	if *update {
		return os.WriteFile(name, []byte(others+page), 0o600)
	}
	if faultsHeading+ours != page || incomplete {
		return fmt.Errorf("%s is not what the tests see: run make docs; a row without a test needs one", name)
	}
	return nil
}
