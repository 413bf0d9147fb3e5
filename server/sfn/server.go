package sfn

import (
	"context"
	"fmt"
	"runtime"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
)

// A Server does the operations of AWS Step Functions on the resources of one account and region.
type Server struct {
	config  Config
	store   backend.Store // that of config
	quotas  aws.Quotas
	records *records.Records
	pollers pollers
	logs    *logs
	judges  chan struct{} // large definitions that are judged
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
	store := backend.Of(c.Store)
	return &Server{
		config: c, store: store, quotas: known, records: records.New(store, "sfn", badToken), logs: newLogs(),
		judges: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}, nil
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
