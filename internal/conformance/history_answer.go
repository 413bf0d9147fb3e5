package conformance

import (
	"encoding/json"
	"strings"
	"testing"
)

// ReadHistory returns the events of answers of GetExecutionHistory, for [Execution.Compare]. The events are all of the
// execution, from the first. If an event names no state, its state follows from the events before.
func ReadHistory(tb testing.TB, answered []json.RawMessage) []Event {
	tb.Helper()
	events := make([]Event, len(answered))
	index := map[int64]int{}
	for i, text := range answered {
		var members map[string]json.RawMessage
		var numbers struct {
			Type string `json:"type"`
			ID   int64  `json:"id"`
			Prev int64  `json:"previousEventId"`
		}
		details := map[string]any{}
		err := json.Unmarshal(text, &members)
		if err == nil {
			err = json.Unmarshal(text, &numbers)
		}
		for name, member := range members {
			if err == nil && strings.HasSuffix(name, "EventDetails") {
				err = json.Unmarshal(member, &details)
			}
		}
		if err != nil {
			tb.Fatalf("event %d: %v", i, err)
		}
		parseTexts(details)
		events[i] = Event{ID: numbers.ID, Prev: numbers.Prev, Type: numbers.Type, Details: details}
		index[numbers.ID] = i
		events[i].State = stateOf(events, i, index)
	}
	return events
}

// parseTexts replaces texts that contain JSON by its value, as records do.
func parseTexts(details map[string]any) {
	for _, name := range []string{"input", "output", "parameters"} {
		if text, ok := details[name].(string); ok {
			details[name] = decoded(json.RawMessage(text))
		}
	}
	delete(details, "assignedVariablesDetails")
	if variables, ok := details["assignedVariables"].(map[string]any); ok {
		for name, value := range variables {
			if text, ok := value.(string); ok {
				variables[name] = decoded(json.RawMessage(text))
			}
		}
	}
}

// stateOf returns the state of event i, or nil if the event is about the execution. Events of a Map or a Parallel
// follow from events inside it. So the way back to its entry skips the states that were entered inside.
func stateOf(events []Event, i int, index map[int64]int) *string {
	e := &events[i]
	if strings.HasPrefix(e.Type, "Execution") {
		return nil
	}
	if name := named(e); name != "" {
		return &name
	}
	kind := "Task"
	for _, other := range []string{"Map", "Parallel", "Wait"} {
		if strings.HasPrefix(e.Type, other) {
			kind = other
		}
	}
	within := 0
	for before, ok := index[e.Prev]; ok && before < i; before, ok = index[events[before].Prev] {
		at := &events[before]
		switch at.Type {
		case kind + "StateExited":
			within++
		case kind + "StateEntered":
			if within == 0 {
				return at.State
			}
			within--
		}
		i = before
	}
	return nil
}

// named returns the state that an event names.
func named(e *Event) string {
	details, _ := e.Details.(map[string]any)
	name, _ := details["name"].(string)
	if e.Type == "EvaluationFailed" {
		name, _ = details["state"].(string)
	}
	return name
}
