package sfn

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// withoutDetails are the types of events that have no details at AWS.
var withoutDetails = map[string]bool{
	"LambdaFunctionStarted": true, "MapRunAborted": true, "MapRunSucceeded": true, "MapStateAborted": true,
	"MapStateFailed": true, "MapStateSucceeded": true, "ParallelStateAborted": true, "ParallelStateFailed": true,
	"ParallelStateStarted": true, "ParallelStateSucceeded": true, "TaskStateAborted": true, "WaitStateAborted": true,
}

// detailsMember returns the name of the member with the details of an event; "" if the event has none.
func detailsMember(kind string) string {
	switch {
	case withoutDetails[kind]:
		return ""
	case strings.HasSuffix(kind, "StateEntered"):
		return "stateEnteredEventDetails"
	case strings.HasSuffix(kind, "StateExited"):
		return "stateExitedEventDetails"
	default:
		return strings.ToLower(kind[:1]) + kind[1:] + "EventDetails"
	}
}

// A historyView writes the events of an execution's history as AWS does.
type historyView struct {
	execution *execution
	data      bool // with inputs and outputs
}

// event returns an event as JSON.
func (v *historyView) event(e *storage.Entry) (json.RawMessage, error) {
	at, err := aws.Time{Time: e.Time}.MarshalJSON()
	if err != nil {
		return nil, err
	}
	w := jsontext.NewWriter()
	w.Raw("timestamp", at)
	w.String("type", e.Type)
	w.Number("id", e.Number)
	w.Number("previousEventId", e.Prev)
	if member := detailsMember(e.Type); member != "" {
		details, err := v.details(member, e)
		if err != nil {
			return nil, err
		}
		w.Raw(member, details)
	}
	return w.Bytes(), nil
}

func (v *historyView) details(member string, e *storage.Entry) ([]byte, error) {
	w := jsontext.NewWriter()
	switch member {
	case "stateEnteredEventDetails", "stateExitedEventDetails":
		w.String("name", e.Path)
	case "executionStartedEventDetails":
		w.Text("stateMachineAliasArn", v.execution.API.Alias)
		w.Text("stateMachineVersionArn", v.execution.API.Version)
	}
	fields, err := e.Details.Fields()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != assigned {
			w.Raw(name, fields[name].JSON())
		} else if v.data {
			if err := writeAssigned(w, fields[name]); err != nil {
				return nil, err
			}
		}
	}
	if e.Key == "" || !v.data {
		return w.Bytes(), nil
	}
	w.String(e.Key, e.Body.Data.String())
	if e.Key != "parameters" {
		w.Raw(e.Key+"Details", whole)
	}
	return w.Bytes(), nil
}

// assigned is the member with the variables that a state assigned.
const assigned = "assignedVariables"

// whole says that a value is not truncated. Ebb never truncates one.
var whole = []byte(`{"truncated":false}`)

// writeAssigned writes variables: texts that hold JSON.
func writeAssigned(w *jsontext.Writer, variables atom.Value) error {
	values, err := variables.Fields()
	if err != nil {
		return err
	}
	texts := jsontext.NewWriter()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		texts.String(name, values[name].String())
	}
	w.Raw(assigned, texts.Bytes())
	w.Raw(assigned+"Details", whole)
	return nil
}
