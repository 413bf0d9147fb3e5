package sfn

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

type aliasInput struct {
	ARN string `json:"stateMachineAliasArn"`
}

type describeStateMachineAliasOutput struct {
	ARN          string           `json:"stateMachineAliasArn"`
	Name         string           `json:"name"`
	Description  string           `json:"description,omitempty"`
	Routing      []routeParameter `json:"routingConfiguration"`
	CreationDate *aws.Time        `json:"creationDate"`
	UpdateDate   *aws.Time        `json:"updateDate"`
}

// aliasAddress parses the ARN of an alias.
func (s *Server) aliasAddress(arn string) (*address, error) {
	a, err := s.machineAddress(arn)
	if err == nil && a.alias() == "" {
		err = invalidARN(arn)
	}
	return a, err
}

// describeStateMachineAlias describes an alias.
func (s *Server) describeStateMachineAlias(ctx context.Context, _ *aws.Caller, in *aliasInput) (
	*describeStateMachineAliasOutput, error,
) {
	a, err := s.aliasAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	if !a.ours {
		return nil, noReference(in.ARN)
	}
	al, err := s.alias(ctx, a.name, a.alias())
	if errors.Is(err, storage.ErrNotFound) {
		return nil, noReference(in.ARN)
	}
	if err != nil {
		return nil, err
	}
	return &describeStateMachineAliasOutput{
		ARN: a.text, Name: al.Name, Description: al.Description, Routing: s.routesOf(a.name, al),
		CreationDate: aws.At(al.record.Created), UpdateDate: al.updated(),
	}, nil
}
