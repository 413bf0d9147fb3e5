package conformance

import (
	"encoding/json"
	"testing"
)

// A StateTest is a call of TestState that was recorded on AWS: a line of asl/teststate.jsonl.
type StateTest struct {
	Name     string
	Params   StateTestParams
	Expected struct {
		Refused        string `json:"api_error"` // the exception
		Message        string
		Status         string
		Output         json.RawMessage
		NextState      string
		Error          string
		Cause          any
		InspectionData map[string]any
	}
}

// StateTestParams are the parameters of a call of TestState.
type StateTestParams struct {
	sent json.RawMessage // as they were sent

	Definition      string
	StateName       string
	RoleARN         string `json:"roleArn"`
	Input           *string
	Variables       *string
	Context         *string
	InspectionLevel string
	RevealSecrets   bool
	Mock            *struct {
		Result              *string
		FieldValidationMode string
		ErrorOutput         *struct{ Error, Cause string }
	}
	StateConfiguration struct {
		RetrierRetryCount        int
		ErrorCausedByState       string
		MapIterationFailureCount int
		MapItemReaderData        *string
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *StateTestParams) UnmarshalJSON(text []byte) error {
	type plain StateTestParams
	err := json.Unmarshal(text, (*plain)(p))
	p.sent = append(p.sent, text...)
	return err
}

// A StateTestOutcome is Ebb's outcome of a test of a state.
type StateTestOutcome struct {
	Refused, Message                string
	Status, NextState, Error, Cause string
	Output                          json.RawMessage
	InspectionData                  map[string]any
}

// Request returns the parameters of the call as they were sent.
func (t *StateTest) Request() json.RawMessage { return t.Params.sent }

// StateTests returns the recorded calls.
func StateTests(tb testing.TB) []*StateTest {
	tb.Helper()
	return lines[StateTest](tb, "asl/teststate.jsonl")
}

// ReadStateTestOutcome reads the answer of the API, as an SDK does.
func ReadStateTestOutcome(tb testing.TB, response []byte) *StateTestOutcome {
	tb.Helper()
	var answer struct {
		Status, NextState, Error, Cause string
		Output                          *string
		InspectionData                  map[string]any
	}
	if err := json.Unmarshal(response, &answer); err != nil {
		tb.Fatal(err)
	}
	out := &StateTestOutcome{
		Status: answer.Status, NextState: answer.NextState, Error: answer.Error, Cause: answer.Cause,
		InspectionData: map[string]any{},
	}
	if answer.Output != nil {
		out.Output = []byte(*answer.Output)
	}
	for name, value := range answer.InspectionData {
		if text, is := value.(string); is {
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				tb.Fatalf("inspectionData/%s: %v", name, err)
			}
		}
		out.InspectionData[name] = value
	}
	return out
}

// Compare returns where an outcome first differs from the record, or "".
func (t *StateTest) Compare(got *StateTestOutcome) string {
	want := &t.Expected
	for _, miss := range []string{
		difference("exception", want.Refused, got.Refused),
		difference("message", want.Message, got.Message),
		difference("status", want.Status, got.Status),
		difference("error", want.Error, got.Error),
		difference("cause", t.cause(), got.Cause),
		difference("nextState", want.NextState, got.NextState),
		difference("output", decoded(want.Output), decoded(got.Output)),
	} {
		if miss != "" {
			return miss
		}
	}
	if t.Params.InspectionLevel == "" || t.Params.InspectionLevel == "INFO" || want.Refused != "" {
		return ""
	}
	return difference("inspectionData", spelledOut(want.InspectionData), got.InspectionData)
}

// Answer returns the answer of the state's task. It is not recorded, but follows from the outcome of the state.
func (t *StateTest) Answer() Answer {
	want := &t.Expected
	if data, ok := want.InspectionData["result"]; ok {
		if text, ok := data.(string); ok {
			return Answer{Output: json.RawMessage(text)}
		}
		return Answer{Output: json.RawMessage(jsonText(data, false))}
	}
	if want.Output != nil {
		return Answer{Output: want.Output}
	}
	a := Answer{Failed: true, Cause: want.Cause, spaced: true}
	if want.Error != "" {
		a.Error = &want.Error
	}
	return a
}

func (t *StateTest) cause() any {
	if t.Expected.Cause == nil {
		return ""
	}
	return t.Expected.Cause
}

// spelledOut returns inspection data with every value decoded. The recorder left values that are not objects as texts.
func spelledOut(data map[string]any) any {
	out := map[string]any{}
	for name, value := range data {
		if text, ok := value.(string); ok && json.Valid([]byte(text)) {
			value = decoded(json.RawMessage(text))
		}
		out[name] = value
	}
	return out
}
