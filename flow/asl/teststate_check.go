package asl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/awsshape"
)

// What AWS refuses to test, in its words as far as they are known.

// check reports what keeps the state from being tested.
func (t *StateTest) check(s *state) error {
	mockable := s.kind == taskState || s.kind == mapState || s.kind == parallelState
	switch {
	case t.Mock == nil && (s.kind == mapState || s.kind == parallelState):
		return &TestStateError{
			Exception: "InvalidDefinition",
			Message:   "TestState API does not support Map or Parallel states. Supported state types include: [Task, Wait, Pass, Succeed, Fail, Choice]",
		}
	case t.Mock == nil && s.kind == taskState && (s.task.activity || s.task.pattern != ""):
		return &TestStateError{
			Exception: "InvalidDefinition",
			Message:   "TestState API does not support the resource " + s.task.uri + " unless a mock is specified",
		}
	case t.Mock == nil && s.kind == taskState && t.Attributes.RoleARN == "":
		return invalidTest("RoleArn must be specified when testing a Task state")
	case t.Mock == nil && s.kind == taskState && t.Call == nil:
		return invalidTest("A Task state is tested with a mock, or with something that can be called")
	case t.Mock == nil:
		return t.checkConfiguration(s)
	case !mockable:
		return invalidTest(fmt.Sprintf("State type '%s' is not supported when a mock is specified", s.kind))
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

func (t *StateTest) checkConfiguration(s *state) error {
	c := &t.Configuration
	switch {
	case c.RetrierRetryCount < 0 || c.MapIterationFailureCount < 0:
		return invalidTest("RetrierRetryCount and MapIterationFailureCount must not be negative")
	case len(c.MapItemReaderData) > 0 && !json.Valid(c.MapItemReaderData.JSON()):
		return invalidTest("MapItemReaderData must be valid JSON")
	case c.ErrorCausedByState != "" && !s.around(c.ErrorCausedByState):
		return invalidTest("The state " + c.ErrorCausedByState + " that is to cause the error is not in the state that is tested")
	}
	return nil
}

// around reports whether a state of that name is inside of s, at any depth.
func (s *state) around(name string) bool {
	return some(s.within(), func(inner *state) bool { return inner.name == name || inner.around(name) })
}

// check compares the mocked result with what the state's work can give.
func (m *StateMock) check(s *state) error {
	if m.Result == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(m.Result))
	d.UseNumber()
	var result any
	if err := d.Decode(&result); err != nil || !json.Valid(m.Result) {
		return invalidTest("Mocked result must be valid JSON")
	}
	_, isArray := result.([]any)
	_, isObject := result.(map[string]any)
	switch s.kind {
	case mapState:
		if s.items.distributed != nil && s.items.distributed.writer != nil {
			if !isObject {
				return invalidTest("Mocked result must be a JSON object.")
			}
		} else if !isArray {
			return invalidTest("Mocked result must be an array.")
		}
	case parallelState:
		if !isArray {
			return invalidTest("Mocked result must be an array.")
		}
	case taskState:
		if m.FieldValidationMode == "NONE" || s.task.pattern != "" || result == nil {
			return nil
		}
		if err := awsshape.Check(s.task.service, s.task.action, result, m.FieldValidationMode != "PRESENT"); err != nil {
			return invalidTest(err.Error())
		}
	default:
	}
	return nil
}

// contextFields are the members of a context object that a test may give; those
// of nil are any.
var contextFields = map[string][]string{
	"Execution":    {"Id", "Input", "Name", "RoleArn", "StartTime", "RedriveCount", "RedriveTime"},
	"State":        {"EnteredTime", "Name", "RetryCount"},
	"StateMachine": {"Id", "Name"},
	"Task":         {"Token"},
}

// checkContext reports what is wrong with a context object that is given.
func checkContext(context atom.Value, s *state) error {
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
		case name == "Task" && (s.kind != taskState || s.task.pattern == ""):
			return refuse("'Task' is for a state with a '.sync' or '.waitForTaskToken' service integration pattern")
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(object[name], &members); err != nil || members == nil {
			return refuse("Field '" + name + "' must be an object")
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			if !slices.Contains(fields, member) {
				return refuse("Field '" + member + "' is not allowed")
			}
		}
	}
	return nil
}
