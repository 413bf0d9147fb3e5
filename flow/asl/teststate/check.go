package teststate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/awsshape"
)

// Tests that AWS refuses, with AWS's messages as far as they are known.

// check reports why the state cannot be tested.
func (t *Test) check(s *syntax.State) error {
	mockable := s.Kind == syntax.TaskState || s.Kind == syntax.MapState || s.Kind == syntax.ParallelState
	switch {
	case t.Mock == nil && (s.Kind == syntax.MapState || s.Kind == syntax.ParallelState):
		return &Error{
			Exception: "InvalidDefinition",
			Message: "TestState API does not support Map or Parallel states. Supported state types include: [Task, Wait, " +
				"Pass, Succeed, Fail, Choice]",
		}
	case t.Mock == nil && s.Kind == syntax.TaskState && (s.Task.Activity || s.Task.Pattern != ""):
		return &Error{
			Exception: "InvalidDefinition",
			Message:   "TestState API does not support the resource " + s.Task.URI + " unless a mock is specified",
		}
	case t.Mock == nil && s.Kind == syntax.TaskState && t.Attributes.RoleARN == "":
		return invalidTest("RoleArn must be specified when testing a Task state")
	case t.Mock == nil && s.Kind == syntax.TaskState && t.Call == nil:
		return invalidTest("A Task state is tested with a mock, or with something that can be called")
	case t.Mock == nil:
		return t.checkConfiguration(s)
	case !mockable:
		return invalidTest(fmt.Sprintf("State type '%s' is not supported when a mock is specified", s.Kind))
	case t.RevealSecrets:
		return invalidTest("TestState does not support RevealSecrets when a mock is specified.")
	case (t.Mock.Result != nil) == (t.Mock.ErrorOutput != nil):
		return invalidTest("A test mock should have only one of the following fields: [result, errorOutput].")
	}
	if err := t.checkConfiguration(s); err != nil {
		return err
	}
	return t.Mock.check(s)
}

func (t *Test) checkConfiguration(s *syntax.State) error {
	c := &t.Configuration
	switch {
	case c.RetrierRetryCount < 0 || c.MapIterationFailureCount < 0:
		return invalidTest("RetrierRetryCount and MapIterationFailureCount must not be negative")
	case len(c.MapItemReaderData) > 0 && !json.Valid(c.MapItemReaderData.JSON()):
		return invalidTest("MapItemReaderData must be valid JSON")
	case c.ErrorCausedByState != "" && !isAround(s, c.ErrorCausedByState):
		return invalidTest("The state " + c.ErrorCausedByState +
			" that is to cause the error is not in the state that is tested")
	}
	return nil
}

// isAround reports whether s contains a state with that name, at any depth.
func isAround(s *syntax.State, name string) bool {
	return syntax.Some(s.Within(), func(inner *syntax.State) bool { return inner.Name == name || isAround(inner, name) })
}

// check compares the mocked result with the possible results of the state's work.
func (m *Mock) check(s *syntax.State) error {
	if m.Result == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(m.Result))
	d.UseNumber()
	var result any
	if err := d.Decode(&result); err != nil || !json.Valid(m.Result) {
		return invalidTest("Mocked result must be valid JSON")
	}
	array, isArray := result.([]any)
	_, isObject := result.(map[string]any)
	switch s.Kind {
	case syntax.MapState:
		if s.Items.Distributed != nil && s.Items.Distributed.Writer != nil {
			if !isObject {
				return invalidTest("Mocked result must be a JSON object.")
			}
		} else if !isArray {
			return invalidTest("Mocked result must be an array.")
		}
	case syntax.ParallelState:
		if !isArray {
			return invalidTest("Mocked result must be an array.")
		}
		if len(array) != len(s.Branches) {
			return invalidTest("Mocked result must contain the same number of items as number of Parallel branches.")
		}
	case syntax.TaskState:
		if m.FieldValidationMode == "NONE" || s.Task.Pattern != "" || result == nil {
			return nil
		}
		if err := awsshape.Check(s.Task.Service, s.Task.Action, result, m.FieldValidationMode != "PRESENT"); err != nil {
			return invalidTest(err.Error())
		}
	default:
	}
	return nil
}

// checkItems compares the mocked result of a Map state with the number of iterations. Those that have failed may be
// missing in it.
func (t *Test) checkItems(s *syntax.State, count int) error {
	failed, d := t.Configuration.MapIterationFailureCount, s.Items.Distributed
	if t.Mock.Result == nil || d != nil && (d.Writer != nil || d.Batcher != nil) {
		return nil // the result has another form, or an item for each batch
	}
	var results []json.RawMessage
	if err := json.Unmarshal(t.Mock.Result, &results); err != nil {
		return invalidTest("Mocked result must be an array.")
	}
	if len(results) != count && len(results) != count-failed {
		return invalidTest("Input array does not equal the mocked result array's size.")
	}
	return nil
}

// contextFields lists the members of a context object that a test may set, with their types.
var contextFields = map[string]map[string]string{
	"Execution": {
		"Id": "string", "Input": "object", "Name": "string", "RoleArn": "string", "StartTime": "string",
		"RedriveCount": "integer", "RedriveTime": "string",
	},
	"State":        {"EnteredTime": "string", "Name": "string", "RetryCount": "integer"},
	"StateMachine": {"Id": "string", "Name": "string"},
	"Task":         {"Token": "string"},
}

// checkContext reports errors in a given context object.
func checkContext(context atom.Value, s *syntax.State) error {
	refuse := func(why string) error { return invalidTest("Invalid Context object provided: " + why) }
	var object map[string]json.RawMessage
	if err := json.Unmarshal(context.JSON(), &object); err != nil || object == nil {
		return refuse("it must be a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		fields, known := contextFields[name]
		switch {
		case name == "Map":
			return refuse("'Map' field is not supported when mocking a Context object")
		case !known:
			return refuse("Field '" + name + "' is not allowed")
		case name == "Task" && (s.Kind != syntax.TaskState || s.Task.Pattern == ""):
			return refuse("'Task' is for a state with a '.sync' or '.waitForTaskToken' service integration pattern")
		case !isOf("object", object[name]):
			return refuse(name + " must be a object")
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(object[name], &members); err != nil {
			return refuse(name + " must be a object")
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			kind, known := fields[member]
			if !known {
				return refuse("Field '" + member + "' is not allowed")
			}
			if !isOf(kind, members[member]) {
				return refuse(name + "." + member + " must be a " + kind)
			}
		}
	}
	return nil
}

// isOf reports whether a member of a context object is of a type, or null.
func isOf(kind string, text json.RawMessage) bool {
	var into any
	switch kind {
	case "object":
		into = &map[string]json.RawMessage{}
	case "integer":
		into = new(int64)
	default:
		into = new(string)
	}
	return json.Unmarshal(text, into) == nil
}
