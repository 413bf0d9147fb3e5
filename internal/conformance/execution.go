package conformance

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// An Execution is a run of a state machine that was recorded on AWS: a line of asl/execution.jsonl.
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
	Objects       []Object          `json:"s3_objects"`
	Expected      Expected
}

// An Object is an object in a bucket that the execution could read.
type Object struct{ Bucket, Key, Body string }

// A Call is a call of a task, and its answer.
type Call struct {
	State        *string
	Event        int
	Kind         string
	Resource     string
	ResourceType string
	Input        json.RawMessage
	Submitted    json.RawMessage // result of a call whose task a token ended later; else nil
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
	Seconds  int // duration; only of functions that are known to take long
	// Submitted is the result of a call whose task was ended later, in the way of this answer. It is nil for other
	// calls.
	Submitted json.RawMessage
	spaced    bool
}

// Expected is the end of the recorded run.
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

// An Outcome is the end of a run of Ebb, to compare with a record.
type Outcome struct {
	Status string          // AWS's name: SUCCEEDED, FAILED, TIMED_OUT, ABORTED
	Output json.RawMessage // if it succeeded
	Error  *string         // nil for none
	Cause  *string
	Events []Event
}

// A Report says how far an outcome agrees with a record.
type Report struct {
	Level  int    // the highest level at which all agrees; 0 for none
	Events bool   // the record has events, so levels from 3 on count
	Miss   string // what differs at the next level, or ""
}

// Executions returns the recorded executions.
func Executions(tb testing.TB) []*Execution {
	tb.Helper()
	all := lines[Execution](tb, "asl/execution.jsonl")
	for _, e := range all {
		e.Expected.mendStates()
		e.Expected.mendExits()
	}
	return all
}

// mendExits lets the exits of distributed Maps follow from the starts of their map runs, as on AWS since November 2024.
// Until August 2024 they followed from the successes.
func (e *Expected) mendExits() {
	for i := range e.Events {
		exit := &e.Events[i]
		at := slices.IndexFunc(e.Events, func(other Event) bool { return other.ID == exit.Prev })
		if exit.Type == "MapStateExited" && at >= 0 && e.Events[at].Type == "MapRunSucceeded" {
			exit.Prev = e.Events[at].Prev
		}
	}
}

// mendStates corrects the states of the events of Maps within Maps, which recorders copied from the event before. The
// details of an iteration name its state. The success of a Map belongs to the state whose exit follows from the same
// event.
func (e *Expected) mendStates() {
	for i := range e.Events {
		event := &e.Events[i]
		if details, ok := event.Details.(map[string]any); ok && strings.HasPrefix(event.Type, "MapIteration") {
			if name, ok := details["name"].(string); ok {
				event.State = &name
			}
		}
		if event.Type != "MapStateSucceeded" {
			continue
		}
		for _, later := range e.Events[i+1:] {
			if later.Type == "MapStateExited" && later.Prev == event.Prev {
				event.State = later.State
				break
			}
		}
	}
}

// Foreign returns what the execution needs beyond the language: a service other than Lambda and S3, a distributed Map,
// an activity or a token. It returns "" if the execution needs nothing.
func (e *Execution) Foreign() string {
	for _, need := range e.Requires {
		if need == "distributed_map" || need == "callback" || need == "activity" {
			return need
		}
	}
	if !e.WithoutServices("lambda", "s3", "aws-sdk:s3") {
		return "another service"
	}
	return ""
}

// WithoutServices reports whether the execution needs no services except the named ones.
func (e *Execution) WithoutServices(but ...string) bool {
	return !slices.ContainsFunc(e.Requires, func(need string) bool {
		service, ok := strings.CutPrefix(need, "service:")
		return ok && !slices.Contains(but, service)
	})
}

var bucketName = regexp.MustCompile(`"Bucket":\s*"([^"{]+)"`)

// Buckets returns the names of the buckets that the execution reads and writes.
func (e *Execution) Buckets() []string {
	var names []string
	for _, object := range e.Objects {
		names = append(names, object.Bucket)
	}
	for _, match := range bucketName.FindAllSubmatch(e.Definition, -1) {
		names = append(names, string(match[1]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Activities returns the ARNs of the activities among the execution's tasks.
func (e *Execution) Activities() []string {
	var arns []string
	for _, call := range e.Tasks {
		if call.Kind == "activity" && !slices.Contains(arns, call.Resource) {
			arns = append(arns, call.Resource)
		}
	}
	return arns
}

// Worker returns the name of the workers of its activities, or "".
func (e *Execution) Worker() string {
	for i := range e.Expected.Events {
		if details, ok := e.Expected.Events[i].Details.(map[string]any); ok {
			if name, ok := details["workerName"].(string); ok {
				return name
			}
		}
	}
	return ""
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

// silent reports whether the record has no cause for a failure.
func (e *Expected) silent() bool { return e.Error == nil && e.Cause == nil && len(e.Events) == 0 }

// fromText returns a text as a value, or nil if there is no text.
func fromText(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}
