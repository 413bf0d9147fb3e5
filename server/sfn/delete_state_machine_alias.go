package sfn

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// deleteStateMachineAlias deletes an alias. If there is no such alias, nothing is left to do.
func (s *Server) deleteStateMachineAlias(ctx context.Context, _ *aws.Caller, in *aliasInput) (*empty, error) {
	a, err := s.aliasAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	_, err = s.change(ctx, a, func(m *machine) ([]storage.RecordWrite, error) {
		al, err := s.alias(ctx, m.Name, a.alias())
		if errors.Is(err, storage.ErrNotFound) {
			return nil, records.ErrUnchanged
		}
		if err != nil {
			return nil, err
		}
		return []storage.RecordWrite{records.Remove(&al.record)}, nil
	})
	if isCode(err, "StateMachineDoesNotExist") {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return &empty{}, nil
}
