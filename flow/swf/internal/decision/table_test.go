package decision_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestTableIsTheReference compares the table with the table of decisions in the reference, row by row: type, members,
// which of them are required, events, and every cause of failure.
func TestTableIsTheReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(conformance.Folder(t), "..", "reference", "swf.md"))
	if err != nil {
		t.Skip("the reference is not there: ", err)
	}
	_, text2, _ := strings.Cut(string(text), "| decision | attributes")
	section, _, _ := strings.Cut(text2, "**UnhandledDecision rule.**")
	rows := regexp.MustCompile(`(?m)^\| (\w+) \| (.*?) \| (.*?) \| (.*) \|$`).FindAllStringSubmatch(section, -1)
	if len(rows) != 13 || len(decision.Table) != 13 {
		t.Fatalf("the reference has %d decisions, the table %d", len(rows), len(decision.Table))
	}
	for _, row := range rows {
		e := decision.ByType(row[1])
		if e == nil {
			t.Errorf("the table lacks %s", row[1])
			continue
		}
		compareMembers(t, e, row[2])
		if !strings.HasPrefix(row[3], e.Success) && !strings.Contains(row[3], "…") {
			t.Errorf("%s: success is %s, not %s", e.Type, e.Success, row[3])
		}
		if closes := strings.Contains(row[3], "closes"); closes != e.Closes {
			t.Errorf("%s closes: %t", e.Type, e.Closes)
		}
		compareCauses(t, e, row[4])
	}
}

func compareMembers(t *testing.T, e *decision.Entry, listed string) {
	t.Helper()
	var want []string
	listed = regexp.MustCompile(`\(.*?\)|\{.*?\}| ≤?[0-9]+(\.\.[0-9]+)?|, default \d+`).ReplaceAllString(listed, "")
	for member := range strings.SplitSeq(listed, ",") {
		want = append(want, strings.TrimSpace(member))
	}
	var got []string
	for _, m := range e.Members {
		name := m.Name
		if m.Required {
			name = "**" + name + "**"
		}
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: members %q\nwant %q", e.Type, got, want)
	}
}

// compareCauses finds the causes in a cell, which abbreviates some: DEFAULT_{A,B}_UNDEFINED.
func compareCauses(t *testing.T, e *decision.Entry, cell string) {
	t.Helper()
	want := []string{decision.NotPermitted} // of every decision
	cell = regexp.MustCompile(`([A-Z_]+)\{([A-Z_,]+)\}([A-Z_]+)`).ReplaceAllStringFunc(cell, func(s string) string {
		open, end := strings.Index(s, "{"), strings.Index(s, "}")
		var all []string
		for one := range strings.SplitSeq(s[open+1:end], ",") {
			all = append(all, s[:open]+one+s[end+1:])
		}
		return strings.Join(all, "; ")
	})
	want = append(want, regexp.MustCompile(`\b[A-Z]+(?:_[A-Z]+)+\b`).FindAllString(cell, -1)...)
	slices.Sort(want)
	want = slices.Compact(want)
	got := slices.Sorted(slices.Values(e.Causes))
	if !slices.Equal(got, want) {
		t.Errorf("%s: causes %q\nwant %q", e.Type, got, want)
	}
	if !strings.Contains(cell, e.Failure) && !strings.Contains(cell, "…") {
		t.Errorf("%s: the failure is not %s", e.Type, e.Failure)
	}
}
