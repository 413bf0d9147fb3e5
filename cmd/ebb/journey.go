package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage"
)

// A journey is a run that this process takes to where it comes to rest.
type journey struct {
	session *session
	store   storage.Store
	machine *asl.Machine
	flow    string
	id      string
	tasks   *tasks.Registry
	expect  string
}

// make runs, shows it, and returns an error that has the exit status.
func (j *journey) make(ctx context.Context, opts ...engine.RunOption) error {
	show := j.session.reporter(j.flow, j.id)
	stopShow := sync.OnceFunc(show.stop)
	defer stopShow()
	moved := false
	eng, err := engine.New(flow.Growing(j.flow, j.machine),
		engine.WithStore(j.store), engine.WithTasks(j.tasks), engine.WithLogger(j.session.logger()),
		engine.WithObserver(func(ev engine.Event) {
			moved = true
			show.happened(ev)
		}))
	if err != nil {
		return err
	}
	ctx, done := j.heed(ctx, eng, show)
	defer done()
	result, err := eng.Run(ctx, j.id, opts...)
	stopShow()
	if result == nil {
		return j.stopped(err, moved)
	}
	status := expected(statusOf(err), result.Run.State.String(), j.expect)
	show.rested(&result.Run, status)
	if errors.Is(err, engine.ErrSuspended) {
		fmt.Fprintf(j.session.err, "ebb: suspended; go on with: ebb resume %s\n", j.id)
	}
	if status == exitSuccess {
		return nil
	}
	if err == nil {
		return &statusError{status: status, err: fmt.Errorf("expected %s, and the run ended %s", j.expect, result.Run.State)}
	}
	return &statusError{status: status, err: err, told: true}
}

// stopped returns the error of a run that did not come to rest. Once it has
// moved, nothing is wrong with how it was started: whatever stopped it, it goes
// on later.
func (j *journey) stopped(err error, moved bool) error {
	switch {
	case errors.Is(err, engine.ErrStopped):
		return &statusError{status: exitSuspended, err: fmt.Errorf("stopped; go on with: ebb resume %s", j.id)}
	case moved:
		return &statusError{status: exitSuspended, err: fmt.Errorf("%w; go on with: ebb resume %s", err, j.id)}
	}
	if owned, ok := errors.AsType[*storage.OwnedError](err); ok {
		return usagef("run %s is being run by process %d on %s (ebb show %s tells how far it is)", j.id, owned.Owner.PID, owned.Owner.Host, j.id)
	}
	if store, ok := errors.AsType[*engine.StoreError](err); ok {
		return unreachable(store.Err)
	}
	return err
}

// heed suspends the run on the first Ctrl-C and stops it on the second, and on
// SIGTERM, whose sender means the process and not the run.
func (j *journey) heed(ctx context.Context, eng *engine.Engine, show reporter) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	quit := make(chan struct{})
	var heeding sync.WaitGroup
	heeding.Go(func() {
		asked := false
		for {
			select {
			case sig := <-signals:
				if sig == syscall.SIGTERM || asked {
					cancel()
					return
				}
				asked = true
				eng.Suspend()
				show.notice("suspending: what runs may end; press Ctrl-C again to stop at once")
			case <-quit:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		close(quit)
		heeding.Wait()
		cancel()
	}
}
