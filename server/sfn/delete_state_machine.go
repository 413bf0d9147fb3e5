package sfn

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type deleteStateMachineInput struct {
	ARN string `json:"stateMachineArn"`
}

type empty struct{}

// deleteStateMachine lets no execution of a machine start from now on. The machine is DELETING until its last execution
// has ended. If there is no such machine, nothing is left to do.
func (s *Server) deleteStateMachine(ctx context.Context, _ *aws.Caller, in *deleteStateMachineInput) (*empty, error) {
	a, err := s.machineAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	if len(a.rest) > 0 {
		return nil, invalidARN(in.ARN)
	}
	_, err = s.change(ctx, a, func(m *machine) ([]storage.RecordWrite, error) {
		m.Deleting = true
		return nil, nil
	})
	if err != nil && !isCode(err, "StateMachineDoesNotExist") && !isCode(err, "StateMachineDeleting") {
		return nil, err
	}
	m, err := s.machine(ctx, a) // which removes the machine if nothing runs
	if err == nil {
		err = s.endNext(ctx, m)
	}
	if err != nil && !isCode(err, "StateMachineDoesNotExist") {
		return nil, err
	}
	return &empty{}, nil
}

// endNext ends the executions of a machine, each at its next transition. If the call is repeated, it continues where it
// was interrupted.
func (s *Server) endNext(ctx context.Context, m *machine) error {
	why := &atom.Failure{Code: atom.CodeCancelled, Bare: true}
	for run, err := range storage.EachRun(ctx, s.store, runningOf(m)) {
		if err != nil {
			return err
		}
		if !s.executes(m, &run) {
			continue
		}
		err := engine.Send(ctx, s.store, run.ID, engine.CancelNext(why))
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	return nil
}

// finishDelete removes a machine that is being deleted, unless one of its executions has not ended. It reports whether
// the machine is gone.
func (s *Server) finishDelete(ctx context.Context, m *machine) (gone bool, err error) {
	if running, err := s.isRunning(ctx, m); err != nil || running {
		return false, err
	}
	for _, kind := range []string{versionKind, aliasKind} {
		query := storage.RecordQuery{Kind: kind, Prefix: m.key + ":"}
		for record, err := range storage.EachRecord(ctx, s.store, query) {
			if err == nil {
				_, err = s.store.WriteRecords(ctx, records.Remove(&record))
			}
			if err != nil && !errors.Is(err, storage.ErrConflict) { // another operation may finish it, too
				return false, err
			}
		}
	}
	_, err = s.store.WriteRecords(ctx, records.Remove(&m.record))
	if errors.Is(err, storage.ErrConflict) {
		err = nil
	}
	return err == nil, err
}
