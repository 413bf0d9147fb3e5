package asl_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
)

// limited runs a machine with AWS's quotas of an execution.
func limited(t *testing.T, machine *asl.Machine, express bool) *simulator {
	t.Helper()
	s := &simulator{lang: machine, run: &grow.RunInfo{
		ID: "Trip:monday", Flow: "Trip", Started: epoch, Attributes: atom.MustEncode(asl.Attributes{Limited: true, Express: express}),
	}}
	s.start(`{"n": 0}`)
	if s.fault != nil {
		t.Fatal(s.fault)
	}
	return s
}

// TestMaxEvents runs endless loops. As on AWS, the event 25,000 is the end of the execution, which follows from the
// event before.
func TestMaxEvents(t *testing.T) {
	t.Parallel()
	const loop = `"StartAt": "Loop", "States": {"Loop": {"Type": "Pass", "Next": "Work"}, "Work": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish",
		"Next": "Loop"}, "End": {"Type": "Succeed"}}`
	const computing = `"StartAt": "Loop", "States": {"Loop": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "End"}],
		"Default": "Loop"}, "End": {"Type": "Succeed"}}`
	for name, machine := range map[string]string{
		"computing": `{` + computing + `}`,
		"tasks":     `{` + loop + `}`,
		"branches": `{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "Branches": [{` + rename(loop, "1") + `}, {` + rename(loop, "2") + `}],
			"Retry": [{"ErrorEquals": ["States.ALL"]}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}], "End": true},
			"Caught": {"Type": "Succeed"}}}`,
		"iterations": `{"StartAt": "List", "States": {"List": {"Type": "Pass", "Result": [1, 2], "Next": "Each"},
			"Each": {"Type": "Map", "ItemSelector": {"n": 0}, "ItemProcessor": {` + computing + `}, "End": true}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := limited(t, parse(t, machine), false)
			last := s.events[len(s.events)-1]
			if len(s.events) != asl.MaxEvents || last.Type != "ExecutionFailed" || last.Prev != asl.MaxEvents-1 {
				t.Fatalf("%d events, the last is %s after %d", len(s.events), last.Type, last.Prev)
			}
			want := `{"error":"States.Runtime","cause":"The execution reached the maximum number of history events (25000)."}`
			if got := last.Details.String(); got != want || s.status != "FAILED" {
				t.Errorf("%s: %s; want %s", s.status, got, want)
			}
		})
	}
}

func rename(states, n string) string {
	for _, name := range []string{"Loop", "Work", "End"} {
		states = strings.ReplaceAll(states, `"`+name+`"`, `"`+name+n+`"`)
	}
	return strings.ReplaceAll(states, `"End`+n+`": true`, `"End": true`)
}

// TestMaxEventsReached succeeds with the last event that there may be, and passes the limit where it does not hold.
func TestMaxEventsReached(t *testing.T) {
	t.Parallel()
	// Each round has two events; before them are the start and two events of the first state, after them two of the last
	// state and the end.
	counting := func(rounds int) *asl.Machine {
		return parse(t, `{"QueryLanguage": "JSONata", "StartAt": "Set", "States": {
			"Set": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Loop"},
			"Loop": {"Type": "Choice", "Choices": [{"Condition": "{% $n >= `+strconv.Itoa(rounds)+` %}", "Next": "End"}], "Default": "Loop",
				"Assign": {"n": "{% $n + 1 %}"}},
			"End": {"Type": "Pass", "End": true}}}`)
	}
	const others = 6 + 2 // and two of the round that leaves the loop, as Assign comes after Choices
	rounds := (asl.MaxEvents - others) / 2
	if s := limited(t, counting(rounds), false); s.status != "SUCCEEDED" || len(s.events) != asl.MaxEvents {
		t.Errorf("%s after %d events", s.status, len(s.events))
	}
	if s := limited(t, counting(rounds+1), false); s.status != "FAILED" || len(s.events) != asl.MaxEvents {
		t.Errorf("one more: %s after %d events", s.status, len(s.events))
	}
	if s := limited(t, counting(rounds+1), true); s.status != "SUCCEEDED" || len(s.events) != asl.MaxEvents+2 {
		t.Errorf("Express: %s after %d events", s.status, len(s.events))
	}
	if s := simulate(t, counting(rounds+1), `{}`, nil); s.status != "SUCCEEDED" || len(s.events) != asl.MaxEvents+2 {
		t.Errorf("without limits: %s after %d events", s.status, len(s.events))
	}
}

// TestLongest ends executions that take longer than AWS allows.
func TestLongest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seconds string
		timeout string
		express bool
		want    time.Duration
		status  string
	}{
		{"301", ``, true, 5 * time.Minute, "TIMED_OUT"},
		{"299", ``, true, 299 * time.Second, "SUCCEEDED"},
		{"299", `"TimeoutSeconds": 10, `, true, 10 * time.Second, "TIMED_OUT"},
		{"400", `"TimeoutSeconds": 350, `, true, 5 * time.Minute, "TIMED_OUT"},
		{"400", ``, false, 400 * time.Second, "SUCCEEDED"},
		{"40000000", ``, false, 365 * 24 * time.Hour, "TIMED_OUT"},
	} {
		s := limited(t, parse(t, `{`+c.timeout+`"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": `+c.seconds+`, "End": true}}}`),
			c.express)
		if took := s.now.Sub(epoch); s.status != c.status || took != c.want {
			t.Errorf("%s s, %sExpress %t: %s after %v; want %s after %v", c.seconds, c.timeout, c.express, s.status, took, c.status, c.want)
		}
	}
}

// TestRunID gives each execution an id of its own that every store accepts.
func TestRunID(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 80) + ":" + strings.Repeat("\u540d", 79)
	ids := map[string]bool{}
	for _, execution := range []string{"Trip:monday", long + "x", long + "y", strings.Repeat("M", 256), strings.Repeat("M", 257)} {
		const world = "arn:aws:states:us-east-1:111111111111"
		id := asl.RunID(world, world+":execution:"+execution)
		if other := asl.RunID("arn:aws:states:us-east-1:222222222222", world+":execution:"+execution); other == id || len(other) > 256 {
			t.Errorf("%s has the id %s in both accounts", execution, id)
		}
		if ids[id] || len(id) > 256 || !utf8.ValidString(id) || len(execution) <= 256 && id != execution {
			t.Errorf("%s has the id %s", execution, id)
		}
		ids[id] = true
	}
}
