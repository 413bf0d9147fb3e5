package engine_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// parityRow finds a row of the table of features: its number and its cells.
	parityRow = regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \| (.*) \| (.*) \|$`)
	// paritySubtest finds a subtest of TestParity that the page names, such as `linear`.
	paritySubtest = regexp.MustCompile("`([a-z_]+)`")
	// aTest finds any test that the page names.
	aTest = regexp.MustCompile("`[a-z/]+: (?:Test|Fuzz)\\w+(?:/\\w+)?`")
)

// TestParityPage compares the table of features with the tests. Each of TaskFlow's features has a row, each row a test
// or a reason why it has none, and each subtest of TestParity a row. The test of the guarantees checks that other named
// tests exist.
func TestParityPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/reference/taskflow-parity.md")
	if err != nil {
		t.Fatal(err)
	}
	const features = 133
	rows := parityRow.FindAllStringSubmatch(string(text), -1)
	if len(rows) != features {
		t.Errorf("there are %d rows; want one for each of %d features", len(rows), features)
	}
	named := map[string]bool{}
	for i, row := range rows {
		number, feature, ours, shownBy := row[1], row[2], row[3], row[4]
		reasoned := strings.HasPrefix(shownBy, "left out: ") || strings.HasPrefix(shownBy, "later: ")
		switch {
		case number != strconv.Itoa(i+1):
			t.Errorf("row %d has the number %s", i+1, number)
		case !reasoned && (ours == "" || !aTest.MatchString(shownBy) && !paritySubtest.MatchString(shownBy)):
			t.Errorf("%s (%s) has neither a test nor a reason", number, feature)
		}
		for _, match := range paritySubtest.FindAllStringSubmatch(shownBy, -1) {
			named[match[1]] = true
		}
	}
	subtests := map[string]bool{}
	for _, features := range allShown {
		for name := range features {
			name = strings.ReplaceAll(name, " ", "_") // as package testing has it
			subtests[name] = true
			if !named[name] {
				t.Errorf("no row names the subtest %s", name)
			}
		}
	}
	for name := range named {
		if !subtests[name] {
			t.Errorf("there is no subtest %s", name)
		}
	}
}
