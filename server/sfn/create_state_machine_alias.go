package sfn

import (
	"context"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type createStateMachineAliasInput struct {
	Description string           `json:"description"`
	Name        string           `json:"name"`
	Routing     []routeParameter `json:"routingConfiguration"`
}

type createStateMachineAliasOutput struct {
	ARN          string    `json:"stateMachineAliasArn"`
	CreationDate *aws.Time `json:"creationDate"`
}

// createStateMachineAlias creates an alias. If the same alias exists, the answer is that of the call that created it.
func (s *Server) createStateMachineAlias(ctx context.Context, _ *aws.Caller, in *createStateMachineAliasInput) (
	*createStateMachineAliasOutput, error,
) {
	a, routes, err := s.routing(in.Routing)
	if err != nil {
		return nil, err
	}
	var created storage.NamedRecord
	written, err := s.change(ctx, a, func(m *machine) ([]storage.RecordWrite, error) {
		old, err := s.alias(ctx, m.Name, in.Name)
		switch {
		case err == nil && old.Description == in.Description && slices.Equal(old.Routes, routes):
			created = old.record
			return nil, records.ErrUnchanged
		case err == nil:
			return nil, aws.Errorf("ConflictException", "Failed to create alias because an alias with the same name and a "+
				"different routing configuration already exists.")
		case !errors.Is(err, storage.ErrNotFound):
			return nil, err
		}
		if err := s.checkRoutes(ctx, m, routes); err != nil {
			return nil, err
		}
		count, err := s.store.CountRecords(ctx, aliasKind, m.key+":")
		if err != nil {
			return nil, err
		}
		if err := s.quotas.Within(QuotaAliases, int64(count)+1, "ServiceQuotaExceededException"); err != nil {
			return nil, err
		}
		al := alias{Name: in.Name, Description: in.Description, Routes: routes}
		return []storage.RecordWrite{records.Put(aliasKind, s.aliasKey(m.Name, in.Name), 0, al)}, nil
	})
	if isCode(err, "StateMachineDoesNotExist") {
		err = noReference(in.Routing[0].VersionARN)
	}
	if err != nil {
		return nil, err
	}
	if written != nil {
		created = written[0]
	}
	return &createStateMachineAliasOutput{s.aliasARN(a.name, in.Name), aws.At(created.Created)}, nil
}
