package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// errOnlyMocks is why a state without a mock fails in a registry with OnlyMocks.
var errOnlyMocks = errors.New("nothing is called here")

// everyAttempt is the attempts that an answer without a number is for.
const everyAttempt = "0-99"

// ParseStateMocks reads mocks that name the states themselves:
//
//	{"Pay":  {"Return": {"receipt": 7}},
//	 "Ship": {"0": {"Throw": {"Error": "Busy"}}, "1-2": {"Return": {}}}}
//
// The numbers are attempts, as in a mock file of Step Functions Local. An answer without a number is for the first 100
// attempts. Name stands for the text in messages.
func ParseStateMocks(name string, text []byte) (*Mocks, error) {
	var states map[string]json.RawMessage
	if err := json.Unmarshal(text, &states); err != nil {
		return nil, fmt.Errorf("tasks: %s: want an object of JSON, with a mock for each state: %w", name, err)
	}
	chosen := map[string]string{}
	for _, state := range slices.Sorted(maps.Keys(states)) {
		chosen[state] = state
		var mock map[string]json.RawMessage
		if json.Unmarshal(states[state], &mock) == nil && (mock["Return"] != nil || mock["Throw"] != nil) {
			states[state], _ = json.Marshal(map[string]json.RawMessage{everyAttempt: states[state]}) // it was JSON
		}
	}
	responses, err := json.Marshal(map[string]any{"MockedResponses": states})
	if err != nil {
		return nil, err
	}
	f, err := ReadMockFile(name, responses)
	if err != nil {
		return nil, fmt.Errorf(`tasks: %s: a mock is {"Return": …}, {"Throw": {"Error": …}}, or these by attempts`, name)
	}
	mocks, problems := f.text.responses(chosen)
	for i := range problems {
		problems[i] = fmt.Errorf("tasks: %s: %w", name, problems[i])
	}
	return mocks, errors.Join(problems...)
}
