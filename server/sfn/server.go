package sfn

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
)

// A Server does the operations of AWS Step Functions on the resources of one account and region, or of those that its
// clients choose, see [Config.AnyAccount].
type Server struct {
	config  Config
	home    aws.Account   // whose resources are stored under their plain names
	shared  *sync.Map     // names of the machines of [Server.Load], which all accounts share
	store   backend.Store // that of config
	quotas  aws.Quotas
	records *records.Records
	pollers *pollers
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
		config: c, home: c.Account, shared: new(sync.Map), store: store, quotas: known,
		records: records.New(store, "sfn", badToken), pollers: new(pollers), logs: newLogs(),
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

// operation adds an operation, which a server of the caller's account does. Its shape is in [shapes].
func operation[In, Out any](s *Server, all map[string]aws.Operation, name string,
	do func(s *Server, ctx context.Context, caller *aws.Caller, in *In) (*Out, error),
) {
	all[name] = aws.Op(shapes[name], func(ctx context.Context, caller *aws.Caller, in *In) (*Out, error) {
		return do(s.of(s.config.Account.Of(caller)), ctx, caller, in)
	})
}
