package swf

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
)

type describeDomainOutput struct {
	Info          domainInfo          `json:"domainInfo"`
	Configuration domainConfiguration `json:"configuration"`
}

type domainConfiguration struct {
	Retention string `json:"workflowExecutionRetentionPeriodInDays"`
}

func (s *Server) describeDomain(ctx context.Context, _ *aws.Caller, in *nameInput) (*describeDomainOutput, error) {
	d, err := s.domain(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return &describeDomainOutput{s.domainInfo(d), domainConfiguration{d.Retention}}, nil
}
