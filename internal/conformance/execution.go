package conformance

import (
	"encoding/json"
	"testing"
	"time"
)

// An Execution is one run of a state machine as it was recorded on AWS: a line
// of asl/execution.jsonl.
type Execution struct {
	Name          string
	Category      string
	Type          string
	QueryLanguage string `json:"query_language"`
	Requires      []string
	Definition    json.RawMessage
	Input         json.RawMessage
	Clock         time.Time
	MachineName   string `json:"state_machine_name"`
	ExecutionName string `json:"execution_name"`
	Tasks         []*Call
	Handlers      map[string]string `json:"lambda_handlers"`
	Expected      Expected
}

// A Call is a call of a task, and what it answered.
type Call struct {
	State        *string
	Event        int
	Kind         string
	Resource     string
	ResourceType string
	Input        json.RawMessage
	Result       Answer
}

// An Answer is how a call ended: one of its flags is set, or Output is.
type Answer struct {
	Output   json.RawMessage
	Failed   bool
	TimedOut bool `json:"timed_out"`
	Pending  bool
	Error    *string
	Cause    any
	Seconds  int // how long it took; only of functions that are known to take long
	spaced   bool
}

// Expected is how the recorded run ended.
type Expected struct {
	Status string
	Output json.RawMessage
	Error  *string
	Cause  any
	Events []Event
	Order  string
}

// An Event is one event of a history.
type Event struct {
	ID      int64 `json:"id"`
	Prev    int64 `json:"prev"`
	Type    string
	State   *string
	Details any
}

// An Outcome is how a run here ended, to be compared with a record.
type Outcome struct {
	Status string          // as AWS calls it: SUCCEEDED, FAILED, TIMED_OUT, ABORTED
	Output json.RawMessage // when it succeeded
	Error  *string         // nil for none
	Cause  *string
	Events []Event
}

// A Report says how far an outcome agrees with a record.
type Report struct {
	Level  int    // the highest level up to which all agrees; 0 for none
	Events bool   // the record carries events, so levels from 3 on count
	Miss   string // what did not agree on the next level; "" when all did
}

// Executions returns the recorded executions.
func Executions(tb testing.TB) []*Execution {
	tb.Helper()
	return lines[Execution](tb, "asl/execution.jsonl")
}

// Within reports whether the execution needs nothing but the named things.
func (e *Execution) Within(things ...string) bool {
	for _, need := range e.Requires {
		found := false
		for _, thing := range things {
			found = found || thing == need
		}
		if !found {
			return false
		}
	}
	return true
}

// ARN returns the ARNs that the state machine and the execution had.
func (e *Execution) ARN() (machine, execution string) {
	const world = "arn:aws:states:us-east-1:111111111111:"
	machine = world + "stateMachine:" + e.MachineName
	if e.Type == "EXPRESS" {
		return machine, world + "express:" + e.MachineName + ":" + e.ExecutionName + ":euuid0001"
	}
	return machine, world + "execution:" + e.MachineName + ":" + e.ExecutionName
}

// Compare says how far an outcome agrees with the record.
func (e *Execution) Compare(got Outcome) Report {
	want := e.Expected
	r := Report{Events: len(want.Events) > 0}
	for _, level := range []func() string{
		func() string { return want.ending(got) },
		func() string { return want.because(got) },
		func() string { return want.order(got.Events, false) },
		func() string { return want.order(got.Events, true) },
		func() string { return want.numbers(got.Events) },
	} {
		if r.Level == 2 && !r.Events {
			return r
		}
		if r.Miss = level(); r.Miss != "" {
			return r
		}
		r.Level++
	}
	return r
}

// ending compares status, output and error.
func (e *Expected) ending(got Outcome) string {
	if miss := difference("status", e.Status, got.Status); miss != "" {
		return miss
	}
	if e.Status == "SUCCEEDED" {
		return difference("output", decoded(e.Output), decoded(got.Output))
	}
	if e.silent() {
		return ""
	}
	return difference("error", fromText(e.Error), fromText(got.Error))
}

// because compares the cause.
func (e *Expected) because(got Outcome) string {
	if e.silent() {
		return ""
	}
	return difference("cause", e.Cause, fromText(got.Cause))
}

// silent reports whether nothing is recorded about why a run failed.
func (e *Expected) silent() bool { return e.Error == nil && e.Cause == nil && len(e.Events) == 0 }

// fromText returns a text that may be missing as a value.
func fromText(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}
