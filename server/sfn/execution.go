package sfn

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// Types of resources, as ARNs name them.
const (
	executionType = "execution" // an execution of a Standard machine
	expressType   = "express"   // an execution of an Express machine
)

// An execution is a run of a machine. The attributes of the run are what its language needs, and what the API reports
// of it beside the record of the run.
type execution struct {
	asl.Attributes

	API facts `json:"sfn,omitzero"`
	run *storage.Run
}

// facts are what the API reports of an execution, as it was when the execution was started.
type facts struct {
	Version  string    `json:"version,omitempty"`  // ARN of the version that it was started with
	Alias    string    `json:"alias,omitempty"`    // ARN of the alias that it was started with
	Revision string    `json:"revision,omitempty"` // revision ID of the machine; "" for the first revision
	Updated  time.Time `json:"updated,omitzero"`   // when the machine was changed last
	Settings *settings `json:"settings,omitempty"` // settings of the machine; nil if they are the defaults
	Trace    string    `json:"trace,omitempty"`    // X-Ray header of the request
	TestCase string    `json:"testCase,omitempty"` // of the file of mocks; "" means that nothing is mocked
}

// executionOf returns the execution whose run it is; false for a run that has no ARN.
func executionOf(run *storage.Run) (*execution, bool) {
	x := &execution{run: run}
	err := run.Attrs.Decode(x) // other programs may store attributes in another form
	return x, err == nil && strings.HasPrefix(x.ExecutionID, "arn:")
}

// TestCase returns the test case of mocks with which the execution of a run was started, and the name of its machine.
// It returns "" for the runs of other executions, and for other runs.
func TestCase(run *storage.Run) (machine, testCase string) {
	x, ok := executionOf(run)
	if !ok {
		return "", ""
	}
	machine, _, _ = strings.Cut(x.StateMachineName, "/") // an item's execution has the name of its Map behind it
	return machine, x.API.TestCase
}

// IsExecution reports whether a run is an execution of a machine that clients created, or a run that such an execution
// began.
func IsExecution(run *storage.Run) bool {
	_, ok := executionOf(run)
	return ok
}

// execution returns the execution with an ARN of one of the given types.
func (s *Server) execution(ctx context.Context, arn string, kinds ...string) (*execution, error) {
	a, err := s.address(arn, kinds...)
	if err != nil {
		return nil, err
	}
	if !a.ours {
		return nil, s.elsewhere(a, noExecution(arn))
	}
	if len(a.rest) == 0 {
		return nil, noExecution(arn)
	}
	run, err := s.store.Run(ctx, s.runID(a.text))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, noExecution(arn)
	}
	if err != nil {
		return nil, err
	}
	x, ok := executionOf(&run)
	if !ok || x.ExecutionID != arn {
		return nil, noExecution(arn)
	}
	return x, nil
}

// end returns what the ARN has behind the type.
func (a *address) end() string {
	const parts = 7
	return strings.SplitN(a.text, ":", parts)[parts-1]
}

func noExecution(arn string) error {
	return aws.Errorf("ExecutionDoesNotExist", "Execution Does Not Exist: '%s'", arn)
}

// stopped returns when the execution ended; nil if it has not.
func (x *execution) stopped() *aws.Time {
	if !x.run.State.Ended() {
		return nil
	}
	return aws.At(x.run.Ended)
}

// failure returns the error and the cause with which the execution failed or was stopped; nil for what it has not. A
// description does not report why an execution timed out.
func (x *execution) failure() (name, cause *string) {
	f := x.run.Failure
	if status := statusOf(x.run); f == nil || status != statusFailed && status != statusAborted {
		return nil, nil
	}
	if !f.Bare && f.Code != atom.CodeCancelled {
		name = &f.Code
	}
	if f.Message != "" {
		cause = &f.Message
	}
	return name, cause
}
