package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage"
)

// A Server drives the due runs of a store concurrently: runs of every flow that its [Catalog] provides. For the
// runs of one flow see [Engine.Serve]. Any number of goroutines may use a Server.
type Server struct {
	engine     *Engine
	own        []Option // options of the engine that NewServer creates
	flows      []string // names of the flows to drive; empty means all flows
	slots      int
	childSlots chan struct{} // slots for child runs that are driven beside their parents
	drain      time.Duration
	offers     map[string]string
	source     Source
	sender     Sender
	maxLost    int64
	reserved   reserved
	serving    atomic.Pointer[serving] // the latest call of Serve; nil if it has ended
}

// NewServer returns a server that drives the runs of the store whose flows the catalog provides. If an option is not
// valid, it returns an error.
func NewServer(catalog Catalog, store storage.Store, opts ...ServerOption) (*Server, error) {
	s, err := newServer(opts)
	if err != nil {
		return nil, err
	}
	if catalog == nil {
		return nil, errors.New("engine: a server needs a catalog; pass one, or use Engine.Serve")
	}
	e, err := newEngine(store, append(s.own, WithCatalog(catalog)))
	if err != nil {
		return nil, err
	}
	s.engine = e
	return s, nil
}

// Serve drives the due runs of the engine's flow and of the flows that it runs, until ctx ends. With a catalog other
// than [Flows], it drives those of every flow: see [Server.Serve]. If an option is not valid, it returns an error.
func (e *Engine) Serve(ctx context.Context, opts ...ServerOption) error {
	s, err := newServer(opts)
	if err != nil {
		return err
	}
	if len(s.own) > 0 {
		return errors.New("engine: WithEngine is for NewServer; this engine exists, so give its options to New")
	}
	s.engine = e
	if e.catalog == nil && len(e.held) == 0 {
		for _, p := range e.plans { // its own, and those that its atoms run
			s.flows = append(s.flows, p.Flow)
		}
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

// Memory returns how much memory the process uses now, and its budget.
func (s *Server) Memory() Memory { return s.engine.Memory() }

// Slots returns how many runs the server drives at the same time, see [WithSlots].
func (s *Server) Slots() int { return s.slots }

// Driving returns how many of the slots are taken: how many runs the server drives now.
func (s *Server) Driving() int {
	serving := s.serving.Load()
	if serving == nil {
		return 0
	}
	return serving.slots.limit - serving.slots.left()
}

// Offers returns what this process offers to runs, see [WithOffers].
func (s *Server) Offers() map[string]string { return maps.Clone(s.offers) }

// Logger returns the logger of [WithLogger], for what logs beside the server. The default logs nothing.
func (s *Server) Logger() hclog.Logger { return s.engine.env.Calls.Log }

// A ServerOption configures a server.
type ServerOption func(*Server) error

// WithEngine sets options of [New] for driving the runs.
func WithEngine(opts ...Option) ServerOption {
	return func(s *Server) error { s.own = append(s.own, opts...); return nil }
}

// WithWaitScale multiplies the duration of each wait of a run: timers, and pauses before retries and reverts. With a
// scale of 0, each wait ends as soon as it begins. Limits hold: timeouts, heartbeats and deadlines. It is for tests of
// flows that wait. A wait that began under another server lasts as long as it did. The scale is from 0 to 1.
func WithWaitScale(scale float64) ServerOption {
	return func(s *Server) error {
		if !(scale >= 0 && scale <= 1) { // also not a number
			return fmt.Errorf("engine: the scale of waits is %v, want a number from 0 to 1", scale)
		}
		s.own = append(s.own, waitScale(scale))
		return nil
	}
}

func waitScale(scale float64) option {
	return func(e *Engine) error {
		e.env.CutWaits = 1 - scale
		return nil
	}
}

// DefaultSlots is how many runs a server drives at the same time, unless [WithSlots] sets another number.
//
//limit:scheduling runs that one `Serve` drives; waiting runs do not count (`engine.WithSlots`) | {}* | wait
const DefaultSlots = 100

// WithSlots limits how many runs a server drives at the same time. The same number of child runs may be driven in
// addition. Runs that only wait take no slot. The default is [DefaultSlots].
func WithSlots(n int) ServerOption {
	return func(s *Server) error {
		if n < 1 {
			return fmt.Errorf("engine: %d slots; want at least 1", n)
		}
		s.slots = n
		return nil
	}
}

// WithDrain sets how long running atoms may continue after the server is told to stop. Meanwhile the server starts
// nothing. When an atom ends, the server records its result and releases the run, so that any process can take it
// over. After d the server cancels the atoms that still run, see [WithGrace]. The default is 0: it cancels them at
// once.
func WithDrain(d time.Duration) ServerOption {
	return func(s *Server) error {
		if d < 0 {
			return fmt.Errorf("engine: drain for %v; want 0 or more", d)
		}
		s.drain = d
		return nil
	}
}

// WithOffers sets what this process offers to runs. A run with the label "needs.gpu" = "a100" is driven only by
// processes whose offer "gpu" is "a100".
func WithOffers(offers map[string]string) ServerOption {
	return func(s *Server) error { s.offers = maps.Clone(offers); return nil }
}

// WithSource sets a function that the server asks for new runs when it has slots that no existing run needs. The
// server asks when the store reports a change, and once a second. If the function returns an error, [Server.Serve]
// returns the error.
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

// DefaultMaxLost is the default of [WithMaxLost].
//
//limit:scheduling deaths of processes that drive only one run, within an hour of each other (`--max-lost`,
//limit:and `engine.WithMaxLost`) | {}* | the run is [set aside](../explanation/deaths.md) with `Ebb.Lost`
const DefaultMaxLost = 3

// WithMaxLost sets how many processes may die while they drive only this run. Then the server suspends the run with a
// failure of [atom.CodeLost] and parks its job. A death counts less if the process also drove runs during which no
// process had died. The run resumes when it is run again. n is at least 1.
func WithMaxLost(n int) ServerOption {
	return func(s *Server) error {
		if n < 1 {
			return fmt.Errorf("engine: WithMaxLost(%d); want at least 1", n)
		}
		s.maxLost = int64(n)
		return nil
	}
}

// Dispatch sends the messages that runs put into the outbox, until ctx ends. It keeps their order for each run and
// target. If sending fails, Dispatch retries the message after a growing pause, and parks it with its error after
// 20 attempts. The messages behind a parked one wait until an operator releases it (ebb retry --messages). If
// a sender dies, its message is sent again, under the same ID, within 30 s. Dispatch returns nil when ctx ends, and
// the store's error if the store cannot list the messages. Any number of processes may call Dispatch at the same
// time.
func (e *Engine) Dispatch(ctx context.Context, send Sender) error {
	return newOutbound(e.env.Store, e.env.Log).dispatch(ctx, send)
}
