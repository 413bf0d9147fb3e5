package sfn_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/sfn"
)

// TestModelErrors has rules that follow from AWS's model of the API: which members are secret, and which errors an
// operation has.
func TestModelErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	long := strings.Repeat("x", 81)
	for _, c := range []struct {
		op      string
		params  object
		message string
	}{
		{
			"TestState",
			object{"definition": "{}", "stateName": long},
			"1 validation error detected: Value at 'stateName' failed to satisfy constraint: Member must have length less than or equal to 80",
		},
		{
			"TestState",
			object{"definition": "{}", "stateConfiguration": object{"errorCausedByState": ""}},
			"1 validation error detected: Value at 'stateConfiguration.errorCausedByState' failed to satisfy constraint: Member must have length greater than or equal to 1",
		},
		{
			"TestState",
			object{"definition": "{}", "mock": object{"fieldValidationMode": "LAX"}},
			"1 validation error detected: Value 'LAX' at 'mock.fieldValidationMode' failed to satisfy constraint: Member must satisfy enum value set: [STRICT, NONE, PRESENT]",
		},
		{
			"TestState",
			object{"definition": `{"Type": "Pass", "End": true}`, "context": "{}"},
			"A Context object can be specified only when a mock is specified.",
		},
		{
			"TestState",
			object{"definition": `{"Type": "Pass", "End": true}`, "stateConfiguration": object{"mapIterationFailureCount": 0}},
			"mapIterationFailureCount can be specified only when a mock is specified.",
		},
		{
			"TestState",
			object{"definition": "{}", "stateName": ""},
			"1 validation error detected: Value at 'stateName' failed to satisfy constraint: Member must have length greater than or equal to 1",
		},
		{
			"CreateStateMachineAlias",
			object{"name": "a", "routingConfiguration": []any{}},
			"1 validation error detected: Value '[]' at 'routingConfiguration' failed to satisfy constraint: Member must have length greater than or equal to 1",
		},
	} {
		answer := w.call(t, c.op, c.params)
		if answer.Code != "ValidationException" || answer.Message != c.message {
			t.Errorf("%s: %s: %s\nwant %s", c.op, answer.Code, answer.Message, c.message)
		}
	}
	// ListStateMachineVersions has no error for a machine that does not exist.
	var list map[string]json.RawMessage
	w.must(t, "ListStateMachineVersions", object{"stateMachineArn": resource + "stateMachine:none"}, &list)
	if len(list) != 1 || string(list["stateMachineVersions"]) != "[]" {
		t.Errorf("%s", list)
	}
	w.refuses(t, "ListStateMachineVersions", object{"stateMachineArn": resource + "stateMachine:none:1"}, "InvalidArn")
}
