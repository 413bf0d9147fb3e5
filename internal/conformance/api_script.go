package conformance

import (
	"encoding/json"
	"strings"
	"testing"
)

// A transcribedEvent is an event in an answer of GetExecutionHistory.
type transcribedEvent struct {
	ID      int64  `json:"id"`
	Prev    int64  `json:"previousEventId"`
	Type    string `json:"type"`
	Details transcribedDetails
}

// transcribedDetails are the details of an event about a task.
type transcribedDetails struct {
	Resource     string          `json:"resource"`
	ResourceType string          `json:"resourceType"`
	Input        json.RawMessage `json:"input"`
	Parameters   json.RawMessage `json:"parameters"`
	Output       json.RawMessage `json:"output"`
	Error        *string         `json:"error"`
	Cause        any             `json:"cause"`
	WorkerName   string          `json:"workerName"`
}

// UnmarshalJSON reads the details from the member that has them.
func (e *transcribedEvent) UnmarshalJSON(text []byte) error {
	type plain transcribedEvent
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, (*plain)(e)); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for name, member := range members {
		if strings.HasSuffix(name, "EventDetails") {
			return json.Unmarshal(member, &e.Details)
		}
	}
	return nil
}

// Services returns the calls of the tasks of the transcript's executions, as the recorded histories show them: for
// [Execution.Script], [Execution.Activities] and [Execution.Worker].
func (t *Transcript) Services(tb testing.TB) *Execution {
	tb.Helper()
	all := &Execution{}
	for _, step := range t.Steps {
		if step.Op != "GetExecutionHistory" || step.Response == nil {
			continue
		}
		var history struct {
			Events []transcribedEvent `json:"events"`
		}
		if err := json.Unmarshal(step.Response, &history); err != nil {
			tb.Fatalf("%s: %v", t.Name, err)
		}
		for i := range history.Events {
			if e := &history.Events[i]; strings.HasSuffix(e.Type, "Scheduled") {
				all.Tasks = append(all.Tasks, callIn(history.Events, e, all))
			}
		}
	}
	return all
}

// callIn returns the call that an event schedules.
func callIn(events []transcribedEvent, scheduled *transcribedEvent, of *Execution) *Call {
	d := &scheduled.Details
	call := &Call{
		Kind: "task", Resource: d.Resource, ResourceType: d.ResourceType, Input: d.Parameters, Result: Answer{Pending: true},
	}
	switch {
	case strings.HasPrefix(scheduled.Type, "Lambda"):
		call.Kind, call.Input = "lambda", d.Input
	case strings.HasPrefix(scheduled.Type, "Activity"):
		call.Kind, call.Input = "activity", d.Input
	}
	for last := scheduled.ID; ; {
		next := (*transcribedEvent)(nil)
		for i := range events {
			if events[i].Prev == last && events[i].ID > last {
				next = &events[i]
				break
			}
		}
		if next == nil {
			return call
		}
		last = next.ID
		switch {
		case strings.HasSuffix(next.Type, "Started"):
			of.Expected.Events = append(of.Expected.Events, Event{
				Type: next.Type, Details: map[string]any{"workerName": next.Details.WorkerName},
			})
		case strings.HasSuffix(next.Type, "Submitted"):
			call.Submitted = next.Details.Output
		case strings.HasSuffix(next.Type, "Succeeded"):
			call.Result = Answer{Output: next.Details.Output}
			return call
		case strings.HasSuffix(next.Type, "TimedOut"):
			call.Result = Answer{TimedOut: true}
			return call
		case strings.HasSuffix(next.Type, "Failed"):
			call.Result = Answer{Failed: true, Error: next.Details.Error, Cause: transcribedCause(next.Details.Cause)}
			return call
		default:
			return call
		}
	}
}

// transcribedCause returns a cause in the form of [Answer]. In a transcript, a text that contains JSON is recorded as
// its value.
func transcribedCause(cause any) any {
	switch cause.(type) {
	case string, nil:
		return cause
	default:
		return map[string]any{"$json": cause}
	}
}
