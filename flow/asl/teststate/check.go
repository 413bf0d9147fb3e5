package teststate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

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
	case t.Mock.ErrorOutput != nil && t.Mock.ErrorOutput.Error == "":
		return invalidTest("The error field must be specified when a test mock has the field errorOutput.")
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
	case c.ErrorCausedByState != "" && !isAround(s, c.ErrorCausedByState):
		return invalidTest("The state " + c.ErrorCausedByState +
			" that is to cause the error is not in the state that is tested")
	}
	return nil
}

// variables returns the variables of the test: nil if there are none.
func (t *Test) variables() (atom.Value, error) {
	if len(t.Variables) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(t.Variables.JSON(), &members); err != nil || members == nil {
		return nil, invalidTest("Variables must be a JSON object.")
	}
	return t.Variables, nil
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
		if m.FieldValidationMode == "NONE" || result == nil {
			return nil
		}
		pattern, strict := s.Task.Pattern, m.FieldValidationMode != "PRESENT"
		err := awsshape.Check(s.Task.Service, strings.TrimSuffix(s.Task.Action, pattern), pattern, result, strict)
		if err != nil {
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
