package sfn

import (
	"context"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type updateStateMachineAliasInput struct {
	ARN         string           `json:"stateMachineAliasArn"`
	Description *string          `json:"description"`
	Routing     []routeParameter `json:"routingConfiguration"`
}

type updateStateMachineAliasOutput struct {
	UpdateDate *aws.Time `json:"updateDate"`
}

// updateStateMachineAlias gives an alias another description or other routes.
func (s *Server) updateStateMachineAlias(ctx context.Context, _ *aws.Caller, in *updateStateMachineAliasInput) (
	*updateStateMachineAliasOutput, error,
) {
	a, err := s.aliasAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	if in.Description == nil && in.Routing == nil {
		return nil, invalid("MISSING_REQUIRED_PARAMETER",
			"Either the description or the RoutingConfiguration must be specified")
	}
	var routes []route
	if in.Routing != nil {
		var machine *address
		if machine, routes, err = s.routing(in.Routing); err != nil {
			return nil, err
		}
		if machine.name != a.name || machine.ours != a.ours {
			return nil, invalid("INVALID_ROUTING_CONFIGURATION",
				"Routing configuration must contain versions of the state machine of the alias.")
		}
	}
	out := &updateStateMachineAliasOutput{}
	_, err = s.change(ctx, a, func(m *machine) ([]storage.RecordWrite, error) {
		old, err := s.alias(ctx, m.Name, a.alias())
		if errors.Is(err, storage.ErrNotFound) {
			return nil, noReference(in.ARN)
		}
		if err != nil {
			return nil, err
		}
		next := *old
		if in.Description != nil {
			next.Description = *in.Description
		}
		if routes != nil {
			next.Routes = routes
		}
		if out.UpdateDate = old.updated(); next.Description == old.Description &&
			slices.Equal(next.Routes, old.Routes) {
			return nil, records.ErrUnchanged
		}
		if err := s.checkRoutes(ctx, m, next.Routes); err != nil {
			return nil, err
		}
		next.Updated = s.config.Now()
		out.UpdateDate = aws.At(next.Updated)
		return []storage.RecordWrite{records.Put(aliasKind, old.record.Key, old.record.Revision, next)}, nil
	})
	if isCode(err, "StateMachineDoesNotExist") {
		err = noReference(in.ARN)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
