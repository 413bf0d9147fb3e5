package sfn

import (
	"context"
	"errors"
	"strings"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type deleteStateMachineVersionInput struct {
	ARN string `json:"stateMachineVersionArn"`
}

// deleteStateMachineVersion deletes a version that no alias uses. If there is no such version, nothing is left to do.
// Executions of the version continue.
func (s *Server) deleteStateMachineVersion(ctx context.Context, _ *aws.Caller, in *deleteStateMachineVersionInput) (
	*empty, error,
) {
	a, err := s.machineAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	number := a.version()
	if number == 0 {
		return nil, invalidARN(in.ARN)
	}
	_, err = s.change(ctx, a, func(m *machine) ([]storage.RecordWrite, error) {
		v, err := s.version(ctx, m.Name, number)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, records.ErrUnchanged
		}
		if err != nil {
			return nil, err
		}
		aliases, err := s.aliases(ctx, m.Name)
		if err != nil {
			return nil, err
		}
		var users []string
		for _, al := range aliases {
			if al.uses(number) {
				users = append(users, al.Name)
			}
		}
		if len(users) > 0 {
			return nil, aws.Errorf("ConflictException", "Version to be deleted must not be referenced by an alias. Current "+
				"list of aliases referencing this version: [%s]", strings.Join(users, ", "))
		}
		if m.Published == number {
			m.Published = 0
		}
		return []storage.RecordWrite{records.Remove(&v.record)}, nil
	})
	if isCode(err, "StateMachineDoesNotExist") {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return &empty{}, nil
}
