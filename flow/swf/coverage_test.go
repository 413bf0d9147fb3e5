package swf_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// seen has what the tests have seen of the tables: each event, each cause of a failure, each type of timeout. Random
// tests do not count.
var seen = coverage{rows: map[string]map[string]bool{}, of: map[string]int{}}

type coverage struct {
	mu   sync.Mutex
	rows map[string]map[string]bool // tests by row
	of   map[string]int             // how many rows a test sees
}

func (c *coverage) note(tb testing.TB, e *flow.Event) {
	test, _, _ := strings.Cut(tb.Name(), "/")
	if strings.Contains(test, "Random") {
		return
	}
	rows := []string{e.Type}
	for _, member := range []string{"cause", "timeoutType"} {
		if value, ok := e.Details.Field(member); ok {
			rows = append(rows, e.Type+" "+strings.Trim(value.String(), `"`))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range rows {
		if c.rows[row] == nil {
			c.rows[row] = map[string]bool{}
		}
		if !c.rows[row][test] {
			c.of[test]++
		}
		c.rows[row][test] = true
	}
}

// test returns the test that is most about a row: the one that sees the fewest others.
func (c *coverage) test(row string) string {
	tests := slices.Sorted(maps.Keys(c.rows[row]))
	if len(tests) == 0 {
		return "none"
	}
	return "`flow/swf: " + slices.MinFunc(tests, func(a, b string) int { return c.of[a] - c.of[b] }) + "`"
}

// page returns the page that names a test for each row of the tables.
func (c *coverage) page() string {
	var b strings.Builder
	b.WriteString("# Tests of Amazon SWF\n\nFor each row of the tables of `flow/swf` and of the API, this page names a test that " +
		"causes it.\nThe tests write this page:\n\n    EBB_COVERAGE=write go test -p 1 ./flow/swf ./server/swf\n\n## Events\n\n| event | test |\n|---|---|\n")
	for _, e := range history.Table {
		fmt.Fprintf(&b, "| %s | %s |\n", e.Type, c.test(e.Type))
	}
	b.WriteString("\n## Decisions\n\n| decision | its event | test |\n|---|---|---|\n")
	for _, d := range decision.Table {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", d.Type, d.Success, c.test(d.Success))
	}
	b.WriteString("\n## Failures of decisions\n\n| decision | cause | test |\n|---|---|---|\n")
	for _, d := range decision.Table {
		for _, cause := range d.Causes {
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", d.Type, cause, c.test(d.Failure+" "+cause))
		}
	}
	b.WriteString("\n## Timeouts and other causes\n\n| event | type or cause | test |\n|---|---|---|\n")
	for _, row := range [][2]string{
		{history.TimedOut, "START_TO_CLOSE"},
		{history.DecisionTimedOut, "START_TO_CLOSE"},
		{history.DecisionTimedOut, "SCHEDULE_TO_START"},
		{history.ActivityTimedOut, "SCHEDULE_TO_START"},
		{history.ActivityTimedOut, "START_TO_CLOSE"},
		{history.ActivityTimedOut, "SCHEDULE_TO_CLOSE"},
		{history.ActivityTimedOut, "HEARTBEAT"},
		{history.LambdaTimedOut, "START_TO_CLOSE"},
		{history.ChildTimedOut, "START_TO_CLOSE"},
		{history.Terminated, "OPERATOR_INITIATED"},
		{history.Terminated, "CHILD_POLICY_APPLIED"},
		{history.Terminated, "EVENT_LIMIT_EXCEEDED"},
		{history.CancelRequested, "CHILD_POLICY_APPLIED"},
		{history.StartLambdaFailed, "ASSUME_ROLE_FAILED"},
	} {
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", row[0], row[1], c.test(row[0]+" "+row[1]))
	}
	return b.String()
}

// TestMain runs the tests. If all have run, it compares the page of tests with docs/reference/swf-tests.md, or writes
// it.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	chosen := func(name string) bool { f := flag.Lookup("test." + name); return f != nil && f.Value.String() != "" }
	if code == 0 && !chosen("run") && !chosen("skip") && !chosen("list") && !chosen("fuzz") {
		if err := comparePage(seen.page()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// faultsHeading begins the part of the page that the tests of server/swf write.
const faultsHeading = "\n## Faults of the API\n"

func comparePage(page string) error {
	name := filepath.Join("..", "..", "docs", "reference", "swf-tests.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	ours, others, _ := strings.Cut(string(text), faultsHeading)
	if os.Getenv("EBB_COVERAGE") == "write" {
		return os.WriteFile(name, []byte(page+faultsHeading+others), 0o600)
	}
	if ours != page || strings.Contains(page, "| none |") {
		return fmt.Errorf("%s is not what the tests see: run EBB_COVERAGE=write go test ./flow/swf; a row without a test needs one", name)
	}
	return nil
}
