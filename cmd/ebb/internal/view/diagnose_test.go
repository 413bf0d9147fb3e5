package view

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow"
)

// TestDiagnose shows the line of a problem and the mark under it.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 200) + `"wrong"` + strings.Repeat("b", 200)
	lines := []string{"\t\"Next\": \"Shi\\\"pp\",\r", "\x1b[31m{\"a\": 12.5}", long, "key: plain text"}
	for _, c := range []struct {
		problem flow.Diagnostic
		want    string
	}{
		{
			flow.Diagnostic{Severity: flow.SeverityError, Code: "C", File: "f", Line: 1, Column: 10, Message: "m", Fix: "x"},
			"f:1:10: error: m (x) [C]\n    1 | \t\"Next\": \"Shi\\\"pp\",\n      | \t        ^~~~~~~~~\n",
		},
		{
			flow.Diagnostic{Severity: flow.SeverityWarning, Code: "C", File: "f\x1b", Line: 2, Column: 12, Message: "m\x1b[0m"},
			"f\\x1b:2:12: warning: m\\x1b[0m [C]\n    2 | \uFFFD[31m{\"a\": 12.5}\n      |            ^~~~\n",
		},
		{
			flow.Diagnostic{Severity: flow.SeverityUnsupported, Code: "C", File: "f", Line: 3, Column: 201, Message: "m"},
			"f:3:201: cannot be run: m [C]\n    3 | …" + strings.Repeat("a", 33) + `"wrong"` + strings.Repeat("b", 60) + "…\n      | " +
				strings.Repeat(" ", 34) + "^~~~~~~\n",
		},
		{
			flow.Diagnostic{Severity: flow.SeverityError, Code: "C", File: "f", Line: 4, Column: 6, Message: "m"},
			"f:4:6: error: m [C]\n    4 | key: plain text\n      |      ^~~~~\n",
		},
		{flow.Diagnostic{Severity: flow.SeverityError, Code: "C", File: "f", Line: 4, Column: 99, Message: "m"}, "f:4:99: error: m [C]\n    4 | key: plain text\n      |                ^\n"},
		{flow.Diagnostic{Severity: flow.SeverityError, Code: "C", File: "f", Line: 9, Column: 1, Message: "m"}, "f:9:1: error: m [C]\n"},
	} {
		if got := (Page{}).Diagnose(c.problem, lines); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
	got := Page{Color: true}.Diagnose(flow.Diagnostic{Severity: flow.SeverityError, Code: "C", File: "f", Line: 4, Column: 1, Message: "m"}, lines)
	if want := "\x1b[1mf:4:1: \x1b[0m\x1b[31merror:\x1b[0m m \x1b[2m[C]\x1b[0m\n    4 | key: plain text\n      | \x1b[31m^~~\x1b[0m\n"; got != want {
		t.Errorf("in colors: %q, want %q", got, want)
	}
}
