package history_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/swf/internal/history"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestTableIsTheReference compares the table with the table of events in the reference, row by row: type, attributes,
// which of them are always there, references, what schedules a decision task, and which events close the execution.
func TestTableIsTheReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(conformance.Folder(t), "..", "reference", "swf.md"))
	if err != nil {
		t.Skip("the reference is not there: ", err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) != len(history.Table) || len(rows) != 54 {
		t.Fatalf("the reference has %d events, the table %d", len(rows), len(history.Table))
	}
	seen := map[string]bool{}
	for i, row := range rows {
		e := &history.Table[i]
		if n, _ := strconv.Atoi(row[1]); n != i+1 || row[2] != e.Type || seen[e.Type] || history.ByType(e.Type) != e {
			t.Errorf("event %d is %s, not %s", i+1, e.Type, row[2])
			continue
		}
		seen[e.Type] = true
		compare(t, e, row[3], row[5], row[6])
		if closes := strings.Contains(row[4], "last") || strings.Contains(row[5], "closed"); closes != e.Closes && e.Type != history.Terminated {
			t.Errorf("%s closes: %t", e.Type, e.Closes)
		}
	}
}

func compare(t *testing.T, e *history.Entry, attributes, schedules, references string) {
	t.Helper()
	want := map[string]bool{} // required
	for name := range strings.SplitSeq(attributes, ",") {
		if name = strings.TrimSpace(name); name != "-" {
			want[strings.Trim(name, "*")] = strings.HasPrefix(name, "**")
		}
	}
	for _, a := range e.Attributes {
		required, listed := want[a.Name]
		switch {
		case a.Kind == history.Ref && !listed:
			if !refers(references, a.Name) {
				t.Errorf("%s: the reference does not list %s", e.Type, a.Name)
			}
		case a.Kind == history.Ref:
		case !listed:
			t.Errorf("%s: the reference does not list %s", e.Type, a.Name)
		case required != a.Required:
			t.Errorf("%s: %s is always there: %t", e.Type, a.Name, a.Required)
		}
		delete(want, a.Name)
	}
	for name := range want {
		t.Errorf("%s: the table lacks %s", e.Type, name)
	}
	for _, name := range []string{"dTCId", "scheduledEventId", "startedEventId", "initiatedEventId", "latestCancelRequestedEventId"} {
		if refers(references, name) != has(e, name) && !strings.HasPrefix(references, "same") {
			t.Errorf("%s refers by %s: %t", e.Type, name, has(e, name))
		}
	}
	always := strings.Contains(schedules, "YES")
	pending := !always && strings.Contains(schedules, "pending")
	if always != (e.Schedules == history.Always) || pending != (e.Schedules == history.Pending) {
		if !strings.Contains(schedules, "already pending") || e.Schedules != history.Pending {
			t.Errorf("%s schedules a decision task: %s", e.Type, schedules)
		}
	}
}

func refers(references, name string) bool {
	if name == "decisionTaskCompletedEventId" {
		name = "dTCId"
	}
	return regexp.MustCompile(`(^|[^A-Za-z])`+name+`($|[^A-Za-z])`).MatchString(references) || strings.HasPrefix(references, "same")
}

func has(e *history.Entry, name string) bool {
	for _, a := range e.Attributes {
		if a.Name == name || name == "dTCId" && a.Name == "decisionTaskCompletedEventId" {
			return true
		}
	}
	return false
}

// TestAttributes writes every kind of attribute, with characters that JSON escapes.
func TestAttributes(t *testing.T) {
	t.Parallel()
	empty, text := "", "a\"b\\c\n<é>\u2028\U0001F600"
	var a, none history.Attributes
	a.Text("text", text).Given("given", &empty).Given("absent", nil).Filled("empty", "").Ref("ref", -3).Decided(4).
		Type("type", "n", "v").Execution("execution", "w", "r").List("list", "l").Tags("tags", []string{"x", ""}).Tags("no", nil)
	want := `{"text":"a\"b\\c\n<é>\u2028😀","given":"","ref":-3,"decisionTaskCompletedEventId":4,` +
		`"type":{"name":"n","version":"v"},"execution":{"workflowId":"w","runId":"r"},"list":{"name":"l"},"tags":["x",""]}`
	if got := a.Value().String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := none.Value().String(); got != "{}" {
		t.Errorf("no attributes are %s", got)
	}
	if got := history.AttributesMember(history.DecisionScheduled); got != "decisionTaskScheduledEventAttributes" {
		t.Error(got)
	}
}
