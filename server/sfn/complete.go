package sfn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// Complete completes the record of a run that an execution begins: a nested execution has the definition, the role and
// the settings of its machine at this moment, and the execution of an item has the labels by which it is found. Other
// runs do not change. It is the function for [conductor.Catalog.Complete].
func (s *Server) Complete(ctx context.Context, run *storage.Run) error {
	x, ok := executionOf(run)
	switch {
	case !ok:
		return nil
	case x.MapRun != "":
		run.Flow = x.StateMachineName
		run.Labels = map[string]string{mapRunLabel: x.MapRun[strings.LastIndexByte(x.MapRun, ':')+1:]}
		return nil
	case run.Definition != "":
		return nil
	}
	s = s.at(x.StateMachineID)
	t, err := s.nested(ctx, x.StateMachineID)
	if errors.Is(err, storage.ErrNotFound) && !x.Limited { // no client began it: the ARN may name a stored definition
		return nil
	}
	if err != nil {
		return err
	}
	own := s.newExecution(t, x.ExecutionID, x.ExecutionName, "")
	run.Definition, run.Labels = t.revision.Definition, own.labels()
	run.Attrs, err = over(run.Attrs, own)
	return err
}

// Queue returns an error that wraps [storage.ErrNotFound] if an execution of the API names an activity that does not
// exist. It is the function for [conductor.Catalog.Queues]. Runs that were started in another way may use any queue.
func (s *Server) Queue(ctx context.Context, run *grow.RunInfo, queue string) error {
	x := asl.Attributes{}
	if err := run.Attributes.Decode(&x); err != nil || !x.Limited { // other programs may store attributes in another form
		return nil //nolint:nilerr // it is no execution
	}
	_, err := s.at(queue).activityAt(ctx, queue)
	if _, refused := errors.AsType[*aws.Error](err); refused {
		return missingActivityError{}
	}
	return err
}

// A missingActivityError says in AWS's words that an activity does not exist.
type missingActivityError struct{}

// Error returns AWS's text.
func (missingActivityError) Error() string { return "The activity ARN does not exist." }

// Unwrap implements the interface of [errors.Is].
func (missingActivityError) Unwrap() error { return storage.ErrNotFound }

// nested returns what the ARN in a Task state selects.
func (s *Server) nested(ctx context.Context, arn string) (*target, error) {
	a, err := s.machineAddress(arn)
	if err == nil {
		var t *target
		if t, err = s.target(ctx, a); err == nil {
			return t, nil
		}
	}
	if refused, ok := errors.AsType[*aws.Error](err); ok {
		return nil, fmt.Errorf("%w: %s", storage.ErrNotFound, refused.Message)
	}
	return nil, err
}

// over returns attributes with the members of an execution in place of their own.
func over(attributes atom.Value, x execution) (atom.Value, error) {
	all := map[string]json.RawMessage{}
	if err := attributes.Decode(&all); err != nil {
		return nil, err
	}
	delete(all, "sfn")
	if err := atom.MustEncode(x).Decode(&all); err != nil {
		return nil, err
	}
	return atom.Encode(all)
}
