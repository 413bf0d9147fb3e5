package conductor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/hcslog"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
)

// A Conductor serves a store. Make one with New.
type Conductor struct {
	store      storage.Store
	catalog    *serving
	board      *jobs.Board
	policy     jobs.Policy
	offers     map[string]string
	log        hclog.Logger
	opts       []engine.Option // of all engines
	serverOpts []engine.ServerOption
	slots      int
	drain      time.Duration

	server   *engine.Server
	mu       sync.Mutex
	starting map[flow.Node]*engine.Engine // that make runs, by their flow
	stage    atomic.Int32
	written  lastCheck
	probes   singleflight.Group // of the store
}

// Stage is where in its life a conductor is.
type Stage int32

// The stages of a conductor.
const (
	Idle     Stage = iota // it was made
	Serving               // it drives runs
	Draining              // it is to stop, and lets what executes end
	Stopped               // nothing of it is left
)

// String returns the name of the stage, such as "serving".
func (s Stage) String() string { return [...]string{"idle", "serving", "draining", "stopped"}[s] }

// An Option sets something about a conductor.
type Option func(*Conductor)

// DefaultDrain is how long running atoms may continue after a conductor is told to stop,
// unless [WithDrain] sets another time.
const DefaultDrain = 30 * time.Second

// WithSlots sets how many runs are driven at once; the default is
// [engine.DefaultSlots]. Runs that only wait take none.
func WithSlots(n int) Option { return func(c *Conductor) { c.slots = n } }

// WithDrain sets how long running atoms may continue after the conductor is told to
// stop.
func WithDrain(d time.Duration) Option { return func(c *Conductor) { c.drain = d } }

// WithOffers sets the offers of this process to jobs and runs that need them, such as
// "gpu" = "a100".
func WithOffers(offers map[string]string) Option { return func(c *Conductor) { c.offers = offers } }

// WithPolicy sets how claims of jobs are treated, on the board of the store.
func WithPolicy(p jobs.Policy) Option { return func(c *Conductor) { c.policy = p } }

// WithLogger sets where the conductor, and its engines, log to; the default is
// nowhere.
func WithLogger(log hclog.Logger) Option { return func(c *Conductor) { c.log = log } }

// WithSlog is [WithLogger] for programs that log with [log/slog].
func WithSlog(log *slog.Logger) Option { return WithLogger(hcslog.Logger(log.Handler())) }

// WithEngine sets options of the engines that drive the runs: their tasks,
// observers, middleware.
func WithEngine(opts ...engine.Option) Option {
	return func(c *Conductor) { c.opts = append(c.opts, opts...) }
}

// WithServer sets options of the server that drives the runs: its sender, and when it sets a
// run aside. Slots, drain, offers and source are the conductor's own.
func WithServer(opts ...engine.ServerOption) Option {
	return func(c *Conductor) { c.serverOpts = append(c.serverOpts, opts...) }
}

// New returns a conductor of the flows in the catalog. It returns an error if the catalog
// or the options are not valid.
func New(store storage.Store, catalog *Catalog, opts ...Option) (*Conductor, error) {
	c := &Conductor{
		store: store, catalog: &serving{catalog, store}, log: hclog.NewNullLogger(), slots: engine.DefaultSlots, drain: DefaultDrain,
		starting: map[flow.Node]*engine.Engine{},
	}
	for _, opt := range opts {
		opt(c)
	}
	if err := errors.Join(catalog.problems...); err != nil {
		return nil, err
	}
	c.board = jobs.New(store, c.policy)
	// The caller's engine options may replace the logger, but not the store. The conductor's own server options
	// come after the caller's, so that the caller's cannot override them.
	own := append([]engine.Option{engine.WithLogger(c.log)}, c.opts...)
	server, err := engine.NewServer(c.catalog, append(c.serverOpts, engine.WithEngine(append(own, engine.WithStore(store))...),
		engine.WithSlots(c.slots), engine.WithDrain(c.drain), engine.WithOffers(c.offers), engine.WithSource(c.takeIn))...)
	if err != nil {
		return nil, fmt.Errorf("conductor: %w", err)
	}
	c.server = server
	return c, nil
}

// Board returns the board whose jobs are claimed.
func (c *Conductor) Board() *jobs.Board { return c.board }

// Stage returns where in its life the conductor is.
func (c *Conductor) Stage() Stage { return Stage(c.stage.Load()) }

// outage is how long is waited before a store that did not answer is asked again.
var outage = atom.Exponential(time.Second, 30*time.Second).WithJitter(0.5) //nolint:mnd // half

// Run serves until ctx ends, drains, and returns nil. If the store does not answer, the
// runs stop at their last commit. Run then asks the store again until it answers, and
// resumes the runs. If the store can never answer again, Run returns its error, such as
// [storage.ErrClosed]. A conductor runs once.
func (c *Conductor) Run(ctx context.Context) error {
	if !c.stage.CompareAndSwap(int32(Idle), int32(Serving)) {
		return errors.New("conductor: it has run already; make another with conductor.New")
	}
	defer c.stage.Store(int32(Stopped))
	defer context.AfterFunc(ctx, func() { c.stage.CompareAndSwap(int32(Serving), int32(Draining)) })()
	c.log.Info("conductor serves", "flows", c.catalog.names(), "slots", c.slots)
	ticking, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { c.tick(ticking) })
	err := c.serve(ctx)
	stop()
	beside.Wait()
	c.log.Info("conductor stopped", "error", err)
	return err
}

func (c *Conductor) serve(ctx context.Context) error {
	for tries := 1; ; tries++ {
		began := time.Now()
		err := c.server.Serve(ctx)
		if err == nil || errors.Is(err, storage.ErrClosed) {
			return err
		}
		if time.Since(began) > outage.Max { // it had answered for a while
			tries = 1
		}
		wait := outage.Jittered(tries, rand.Float64()) //nolint:gosec // only spreads waits
		c.log.Error("the store does not answer; it is asked again", "in", wait, "error", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
	}
}

// takeIn claims jobs, and prepares the runs they want.
func (c *Conductor) takeIn(ctx context.Context, free int) ([]engine.NewRun, error) {
	flows, err := c.catalog.claimable(ctx)
	if err != nil || len(flows) == 0 {
		return nil, err
	}
	claims, err := c.board.Claim(ctx, jobs.Want{Flows: flows, Offers: c.offers, Limit: free})
	if err != nil {
		return nil, err
	}
	runs := make([]engine.NewRun, len(claims))
	var all errgroup.Group
	for i := range claims { // side by side, as definitions may have to be read
		all.Go(func() (err error) {
			if runs[i], err = c.prepare(ctx, &claims[i].Job); err != nil {
				return c.refused(ctx, &claims[i], err)
			}
			runs[i].Refused = func(ctx context.Context, why error) error { return c.refused(ctx, &claims[i], why) }
			return nil
		})
	}
	err = all.Wait()
	return slices.DeleteFunc(runs, func(r engine.NewRun) bool { return r.Run == "" }), err
}

// refused says on the board why the run that a job wants is not begun.
func (c *Conductor) refused(ctx context.Context, claim *jobs.Claim, why error) error {
	var broken *engine.StoreError
	switch {
	case why == nil, errors.Is(why, engine.ErrStopped):
		return why
	case errors.Is(why, storage.ErrFenced): // another process owns it by now
		return nil
	case errors.Is(why, storage.ErrLimited): // it waits for its place
		return nil
	case errors.Is(why, storage.ErrExists):
		return c.exists(ctx, claim)
	case errors.Is(why, errUnknown):
		c.log.Warn("a job is given back", "job", claim.Job.ID, "why", why)
		return unlessLost(c.board.Retry(ctx, *claim, &atom.Failure{Code: atom.CodeNoFlow, Message: why.Error()}))
	case errors.As(why, &broken), ctx.Err() != nil:
		return why
	default:
		return c.park(ctx, claim, atom.CodeNoStart, why.Error())
	}
}

// park sets a job aside whose run cannot be made.
func (c *Conductor) park(ctx context.Context, claim *jobs.Claim, code, why string) error {
	c.log.Error("a job is parked", "job", claim.Job.ID, "why", why)
	return unlessLost(c.board.Park(ctx, *claim, &atom.Failure{Code: code, Message: why}))
}

// unlessLost returns the error of a board, but for a claim that was lost: then the
// process that has the claim decides about the job.
func unlessLost(err error) error {
	if errors.Is(err, jobs.ErrClaimLost) {
		return nil
	}
	return err
}

// exists parks a job that wants a run which is there, unless it is the job's.
func (c *Conductor) exists(ctx context.Context, claim *jobs.Claim) error {
	j := &claim.Job
	run, err := c.store.Run(ctx, j.Run)
	if err != nil || run.Job == j.ID {
		return err
	}
	return c.park(ctx, claim, atom.CodeRunExists, fmt.Sprintf("there is a run %q already, which is not this job's", j.Run))
}

// prepare prepares the run of a job. If a language panics on a definition, other jobs
// are not affected.
func (c *Conductor) prepare(ctx context.Context, j *storage.Job) (fresh engine.NewRun, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("conductor: panic while the run was made: %v\n%s", p, debug.Stack())
		}
	}()
	root, definition, err := c.catalog.wanted(ctx, j)
	if err != nil {
		return fresh, err
	}
	eng, err := c.starter(root)
	if err != nil {
		return fresh, err
	}
	opts := []engine.RunOption{engine.ForJob(j.ID), engine.Labels(jobs.RunLabels(j))}
	if definition != "" {
		opts = append(opts, engine.OnDefinition(definition))
	}
	if j.Trace != "" {
		opts = append(opts, engine.Trace(j.Trace))
	}
	if j.Input != nil {
		opts = append(opts, engine.Input(j.Input))
	}
	c.log.Debug("job begins", "job", j.ID, "flow", j.Flow, "run", j.Run)
	return eng.NewRun(j.Run, opts...)
}

// starter returns an engine that makes runs of a flow.
func (c *Conductor) starter(root flow.Node) (*engine.Engine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if eng := c.starting[root]; eng != nil {
		return eng, nil
	}
	opts := append([]engine.Option{engine.WithLogger(c.log)}, c.opts...)
	eng, err := engine.New(root, append(opts, engine.WithStore(c.store), engine.WithInputs(engine.AnyInput))...)
	if err == nil {
		c.starting[root] = eng
	}
	return eng, err
}
