package conductor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
)

// A Conductor serves a store. Create one with [New].
type Conductor struct {
	store   backend.Store
	catalog *serving
	board   *jobs.Board
	server  *engine.Server
	log     hclog.Logger
	stage   atomic.Int32
	written lastCheck
	probes  singleflight.Group // of probes of the store
}

// A stage is a stage in the life of a conductor.
type stage int32

const (
	idle     stage = iota // created
	serves                // it drives runs
	draining              // it was told to stop, and lets running atoms end
	stopped               // nothing is running any more
)

// String returns the name of the stage, such as "serving".
func (s stage) String() string { return [...]string{"idle", "serving", "draining", "stopped"}[s] }

// DefaultDrain is how long running atoms may continue after a conductor is told to stop, unless [engine.WithDrain] sets
// another time.
const DefaultDrain = 30 * time.Second

// New returns a conductor of the board's jobs and of the flows in the catalog, on the board's store. The options are
// those of the server that drives the runs; by default, it drains for [DefaultDrain]. The conductor logs to the
// engine's logger, under the name conductor. If the catalog or an option is not valid, New returns an error.
func New(board *jobs.Board, catalog *Catalog, opts ...engine.ServerOption) (*Conductor, error) {
	if err := errors.Join(catalog.problems...); err != nil {
		return nil, err
	}
	store := backend.Of(board.Store())
	c := &Conductor{store: store, catalog: &serving{catalog, store}, board: board}
	opts = slices.Concat([]engine.ServerOption{engine.WithDrain(DefaultDrain)}, opts)
	server, err := engine.NewServer(c.catalog, store, append(opts, engine.WithSource(c.takeIn))...)
	if err != nil {
		return nil, fmt.Errorf("conductor: %w", err)
	}
	c.server, c.log = server, server.Logger().Named("conductor")
	return c, nil
}

// outage is the pause before the conductor asks a store again that did not answer.
var outage = atom.Exponential(time.Second, 30*time.Second).WithJitter(0.5) //nolint:mnd // half

// Run serves until ctx ends, drains, and returns nil. If the store does not answer, the runs stop at their last
// commit. Run then asks the store again until it answers, and resumes the runs. If the store can never answer
// again, Run returns its error, such as [storage.ErrClosed] or [storage.ErrBroken]. Run may be called only once.
func (c *Conductor) Run(ctx context.Context) error {
	if !c.stage.CompareAndSwap(int32(idle), int32(serves)) {
		return errors.New("conductor: Run was called before; create another conductor with conductor.New")
	}
	defer c.stage.Store(int32(stopped))
	defer context.AfterFunc(ctx, func() { c.stage.CompareAndSwap(int32(serves), int32(draining)) })()
	c.log.Info(logevent.ConductorStarted, logevent.Attributes("flows", c.catalog.names(), "slots", c.server.Slots())...)
	ticking, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { c.tick(ticking) })
	err := c.serve(ctx)
	stop()
	beside.Wait()
	if err != nil {
		c.log.Error(logevent.ConductorStopped, "error", err)
	} else {
		c.log.Info(logevent.ConductorStopped)
	}
	return err
}

func (c *Conductor) serve(ctx context.Context) error {
	for tries := 1; ; tries++ {
		began := time.Now()
		err := c.catalog.keepInputs(ctx)
		if err == nil {
			err = c.server.Serve(ctx)
		}
		if err == nil || errors.Is(err, storage.ErrClosed) || errors.Is(err, storage.ErrBroken) {
			return err
		}
		if time.Since(began) > outage.Max { // the store had answered for a while
			tries = 1
		}
		wait := outage.Jittered(tries, rand.Float64()) //nolint:gosec // only spreads waits
		c.log.Log(backend.LevelOf(err, hclog.Error), logevent.ConductorPaused,
			"retry_in", logevent.Duration(wait), "error", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
	}
}

// takeIn claims jobs, and prepares their runs. It also returns those that it could prepare before an error.
func (c *Conductor) takeIn(ctx context.Context, free int) ([]engine.NewRun, error) {
	flows, languages := c.catalog.wants()
	if len(flows)+len(languages) == 0 {
		return nil, nil
	}
	claims, claimed := c.board.Claim(ctx,
		jobs.ClaimQuery{Flows: flows, Languages: languages, Offers: c.server.Offers(), Limit: free})
	runs := make([]engine.NewRun, len(claims))
	var all errgroup.Group
	for i := range claims { // concurrently, because definitions may have to be read
		all.Go(func() (err error) {
			if runs[i], err = c.prepare(ctx, &claims[i].Job); err != nil {
				return c.refused(ctx, &claims[i], err)
			}
			runs[i].Refused = func(ctx context.Context, why error) error { return c.refused(ctx, &claims[i], why) }
			return nil
		})
	}
	err := errors.Join(claimed, all.Wait())
	return slices.DeleteFunc(runs, func(r engine.NewRun) bool { return r.Run == "" }), err
}

// refused records on the board why the run of a job was not started.
func (c *Conductor) refused(ctx context.Context, claim *jobs.Claim, why error) error {
	var (
		broken  *engine.StoreError
		unknown *unknownError
	)
	switch {
	case why == nil, errors.Is(why, engine.ErrStopped):
		return why
	case errors.Is(why, storage.ErrFenced): // another process owns the run by now
		return nil
	case errors.Is(why, storage.ErrLimited): // the run waits for a limit
		return nil
	case errors.Is(why, storage.ErrExists):
		return c.exists(ctx, claim)
	case errors.As(why, &unknown):
		c.log.Warn(logevent.JobReturned, "job", claim.Job.ID, "flow", claim.Job.Flow, "error", why)
		return unlessLost(c.board.Retry(ctx, *claim, &atom.Failure{Code: atom.CodeNoFlow, Message: why.Error()}))
	case errors.As(why, &broken), ctx.Err() != nil:
		return why
	default:
		return c.park(ctx, claim, atom.CodeNoStart, why.Error())
	}
}

// park parks a job whose run cannot be created.
func (c *Conductor) park(ctx context.Context, claim *jobs.Claim, code, why string) error {
	c.log.Error(logevent.JobParked, "job", claim.Job.ID, "flow", claim.Job.Flow, "code", code, "message", why)
	return unlessLost(c.board.Park(ctx, *claim, &atom.Failure{Code: code, Message: why}))
}

// unlessLost returns the error of a board; nil if a claim was lost, because the process that has the claim decides
// about the job.
func unlessLost(err error) error {
	if errors.Is(err, storage.ErrFenced) {
		return nil
	}
	return err
}

// exists parks a job that asks for an existing run, unless the run is the job's own.
func (c *Conductor) exists(ctx context.Context, claim *jobs.Claim) error {
	j := &claim.Job
	run, err := c.store.Run(ctx, j.Run)
	if err != nil || run.Job == j.ID {
		return err
	}
	return c.park(ctx, claim, atom.CodeRunExists,
		fmt.Sprintf("run %q exists already, and this job did not start it", j.Run))
}

// prepare prepares the run of a job.
func (c *Conductor) prepare(ctx context.Context, j *storage.Job) (engine.NewRun, error) {
	opts := []engine.RunOption{engine.ForJob(j.ID), engine.Labels(jobs.RunLabels(j))}
	if j.Trace != "" {
		opts = append(opts, engine.Trace(j.Trace))
	}
	if j.Input != nil {
		opts = append(opts, engine.Input(j.Input))
	}
	fresh, err := c.newRun(ctx, j.Run, Ref{Flow: j.Flow, Version: j.Version}, opts)
	if err == nil {
		c.log.Debug(logevent.JobStarted, "job", j.ID, "flow", j.Flow, "run", j.Run)
	}
	return fresh, err
}
