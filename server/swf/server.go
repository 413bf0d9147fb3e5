package swf

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

// A Server does the operations of Amazon SWF on the domains of one account and region.
type Server struct {
	config  Config
	store   backend.Store // that of config
	quotas  aws.Quotas
	records *records.Records

	runs      Runs
	pollers   pollers
	admission admission
	throttle  throttle
}

// New returns a server, or an error that names what is wrong with the config. It neither reads nor writes the store.
func New(c Config) (*Server, error) {
	c, err := c.completed()
	if err != nil {
		return nil, err
	}
	known, err := aws.NewQuotas(quotas, c.Quotas)
	if err != nil {
		return nil, fmt.Errorf("swf: %w", err)
	}
	store := backend.Of(c.Store)
	return &Server{config: c, store: store, quotas: known, records: records.New(store, "swf", badPageToken)}, nil
}

// Region returns the region that the server serves, for [aws.Options].
func (s *Server) Region() string { return s.config.Account.Region }

// Flow returns the flow of executions, for the catalog of the processes that drive them.
func (s *Server) Flow() flow.Node {
	size := func(q aws.Quota) int {
		value, limited := s.quotas.Value(q)
		if !limited {
			return math.MaxInt
		}
		return int(value)
	}
	return swf.New(swf.Settings{
		Events: int64(size(QuotaEvents)), OpenActivities: size(QuotaOpenActivities), OpenTimers: size(QuotaOpenTimers),
		OpenChildren: size(QuotaOpenChildren), OpenLambdas: size(QuotaOpenLambdas),
		Undo: s.config.Undo, UndoFinder: undoFinder{s},
	}).Flow()
}

// Service returns the service that [aws.New] serves. Its executions are runs of the given engine, whose catalog has the
// flow of [Server.Flow]. Call Service once.
func (s *Server) Service(runs Runs) *aws.Service {
	s.runs = runs
	return &aws.Service{
		Name: "swf", Target: "SimpleWorkflowService", Package: "com.amazonaws.swf.service.model",
		ErrorPrefix: "com.amazonaws.swf.base.model#", EmptyAnswers: true, Operations: s.operations(),
	}
}

// Runs starts the runs of executions, and passes calls and tasks on to them. A [conductor.Conductor] does.
type Runs interface {
	Start(ctx context.Context, run string, of conductor.Ref, opts ...engine.RunOption) error
	Call(ctx context.Context, run, name string, body atom.Value) (atom.Value, error)
	TakeTask(ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{}) (*engine.Task, error)
	CompleteTask(ctx context.Context, token string, delivery int64, result atom.Value) (atom.Value, error)
	FailTask(ctx context.Context, token string, delivery int64, failure *atom.Failure) (atom.Value, error)
	Heartbeat(ctx context.Context, token string, delivery int64, details atom.Value) (giveUp bool, err error)
}

// empty is the answer of an operation without output.
type empty struct{}

// operation adds an operation. Its shape is in [shapes].
func operation[In, Out any](s *Server, all map[string]aws.Operation, name string,
	do func(ctx context.Context, caller *aws.Caller, in *In) (*Out, error),
) {
	all[name] = aws.Op(shapes[name], func(ctx context.Context, caller *aws.Caller, in *In) (*Out, error) {
		if of, ok := any(in).(inDomain); ok {
			domain := of.domainName()
			*domain = s.config.Account.Key(s.config.Account.Of(caller), *domain)
		}
		if err := s.allows(ctx, caller, name, in); err != nil {
			return nil, err
		}
		return do(ctx, caller, in)
	})
}
