package sfn

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
)

// A Server does the operations of AWS Step Functions on the resources of one account and region.
type Server struct {
	config  Config
	quotas  aws.Quotas
	records *records.Records
	pollers pollers
	logs    *logs
}

// New returns a server, or an error that names what is wrong with the config. It neither reads nor writes the store.
func New(c Config) (*Server, error) {
	c, err := c.completed()
	if err != nil {
		return nil, err
	}
	known, err := aws.NewQuotas(quotas, c.Quotas)
	if err != nil {
		return nil, fmt.Errorf("sfn: %w", err)
	}
	badToken := func(error) error { return errBadToken }
	return &Server{config: c, quotas: known, records: records.New(c.Store, "sfn", badToken), logs: newLogs()}, nil
}

// Region returns the region that the server serves, for [aws.Options].
func (s *Server) Region() string { return s.config.Account.Region }

// Service returns the service that [aws.New] serves. The service has the operations that this version of Ebb
// implements; AWS calls the others unknown.
func (s *Server) Service() *aws.Service {
	return &aws.Service{
		Name: "states", Target: "AWSStepFunctions", ErrorPrefix: "com.amazonaws.swf.service.v2.model#",
		Operations: s.operations(),
	}
}

// operation adds an operation. Its shape is in [shapes].
func operation[In, Out any](all map[string]aws.Operation, name string,
	do func(ctx context.Context, caller *aws.Caller, in *In) (*Out, error),
) {
	all[name] = aws.Op(shapes[name], do)
}
