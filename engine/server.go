package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow"
)

// A Server drives the runs of a store that are due, side by side: those of every flow that a
// [Catalog] knows. For the runs of one flow see [Engine.Serve]. A Server is safe for
// concurrent use.
type Server struct {
	engine     *Engine
	own        []Option // of the engine that NewServer makes
	flow       string   // whose runs are driven; "" for all
	slots      int
	childSlots chan struct{} // places for runs that are driven beside those that began them
	drain      time.Duration
	offers     map[string]string
	source     Source
	sender     Sender
	maxLost    int64
}

// NewServer returns a server that drives the runs of every flow that the catalog knows. It
// returns an error if the options are not valid.
func NewServer(catalog Catalog, opts ...ServerOption) (*Server, error) {
	s, err := newServer(opts)
	if err != nil {
		return nil, err
	}
	if catalog == nil {
		return nil, errors.New("engine: a server without a catalog; give it one, or use Engine.Serve")
	}
	e, err := newEngine(append(s.own, WithCatalog(catalog)))
	if err != nil {
		return nil, err
	}
	s.engine = e
	return s, nil
}

// Serve drives the due runs of the engine's flow, or with a catalog of other flows those of
// every flow, until ctx ends: see [Server.Serve]. If the options are not valid, it returns an error.
func (e *Engine) Serve(ctx context.Context, opts ...ServerOption) error {
	s, err := newServer(opts)
	if err != nil {
		return err
	}
	if len(s.own) > 0 {
		return errors.New("engine: WithEngine is for NewServer; this engine exists, so give its options to New")
	}
	s.engine = e
	if e.catalog == nil && !slices.ContainsFunc(e.plans, func(p *flow.Plan) bool { return !e.is(p.Flow) }) {
		s.flow = e.plan.Flow
	}
	return s.Serve(ctx)
}

func newServer(opts []ServerOption) (*Server, error) {
	s := &Server{slots: DefaultSlots, maxLost: DefaultMaxLost}
	for _, opt := range opts {
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	s.childSlots = make(chan struct{}, s.slots)
	return s, nil
}

// Memory returns how much memory the process uses now.
func (s *Server) Memory() Memory { return s.engine.Memory() }

// A ServerOption sets something about a server.
type ServerOption func(*Server) error

// WithEngine sets how runs are driven: by the options that [New] takes.
func WithEngine(opts ...Option) ServerOption {
	return func(s *Server) error { s.own = append(s.own, opts...); return nil }
}

// DefaultSlots is how many runs are driven at once unless [WithSlots] says
// otherwise.
const DefaultSlots = 100

// WithSlots limits how many runs a server drives at once, and how many runs
// that others began are driven beside these. Runs that only wait take no slot. The default
// is [DefaultSlots].
func WithSlots(n int) ServerOption {
	return func(s *Server) error {
		if n < 1 {
			return fmt.Errorf("engine: %d slots; want at least 1", n)
		}
		s.slots = n
		return nil
	}
}

// WithDrain sets how long running atoms may continue after the server is told to stop.
// Meanwhile the server starts nothing. When an atom ends, the server records its result and
// releases the run, so that any process can take it. After d the server cancels the atoms
// that still run, see [WithGrace]. The default is 0: it cancels them at once.
func WithDrain(d time.Duration) ServerOption {
	return func(s *Server) error {
		if d < 0 {
			return fmt.Errorf("engine: drain for %v; want 0 or more", d)
		}
		s.drain = d
		return nil
	}
}

// WithOffers sets the offers of this process to runs that need them: a run with the label
// "needs.gpu" = "a100" is driven only by processes whose offer "gpu" is "a100".
func WithOffers(offers map[string]string) ServerOption {
	return func(s *Server) error { s.offers = maps.Clone(offers); return nil }
}

// WithSource lets a server ask for new runs when it has slots that no existing
// run needs. It asks when the store reports a change, and once a second. An error
// ends [Server.Serve].
func WithSource(in Source) ServerOption {
	return func(s *Server) error { s.source = in; return nil }
}

// WithSender lets a server send the messages that runs put into the outbox, see [Engine.Dispatch].
func WithSender(send Sender) ServerOption {
	return func(s *Server) error {
		if send == nil {
			return errors.New("engine: the sender is nil")
		}
		s.sender = send
		return nil
	}
}

// DefaultMaxLost is how often a run may kill the process that drives it, see [WithMaxLost].
const DefaultMaxLost = 3

// WithMaxLost sets how many processes may die while they drive a run and nothing else, before
// the run is set aside. A death counts less when the process also
// drives runs that did not kill it until then. The run is suspended with a failure of
// [atom.CodeLost] until it is run again, and its job is parked. n is at least 1.
func WithMaxLost(n int) ServerOption {
	return func(s *Server) error {
		if n < 1 {
			return fmt.Errorf("engine: a run may be lost %d times; want at least 1", n)
		}
		s.maxLost = int64(n)
		return nil
	}
}

// Dispatch sends the messages that runs put into the outbox, until ctx ends. It keeps
// their order for each run and target. If sending fails, Dispatch retries the message
// after a growing wait, and parks it with its error after 20 tries. The messages behind a
// parked one wait until an operator releases it with [storage.Store.Unsent]. If a sender
// dies, its message is sent again, under the same ID, within 30 s. Dispatch returns nil
// when ctx ends, and the store's error if the store cannot list the messages. Any number
// of processes may dispatch at once.
func (e *Engine) Dispatch(ctx context.Context, send Sender) error {
	return newOutbound(e.env.Store, e.env.Log).dispatch(ctx, send)
}
