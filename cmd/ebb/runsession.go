package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A runSession drives a run in this process until the run rests.
type runSession struct {
	session *session
	store   storage.Store
	machine definition.Machine
	flow    string
	id      string
	tasks   *tasks.Registry
	aim     aim
	quiet   bool          // its end is told by lines also on a terminal: another process moves it
	tree    *inspect.Tree // what it did before; nil for a new run

	follows atomic.Bool // it is left to another process, also while that process releases it
}

// make drives the run until it rests, shows it, and returns an error that has the exit
// status.
func (j *runSession) make(ctx context.Context, drive func(context.Context, *engine.Engine, view.Reporter) (*engine.Result, error)) error {
	j.session.drove = true
	show := j.reporter()
	stopShow := sync.OnceFunc(show.Stop)
	defer stopShow()
	version, awaited, state := false, false, ""
	heeding, cancel := context.WithCancel(ctx)
	defer cancel()
	company := &detachedRuns{session: j.session}
	eng, err := engine.New(flow.Growing(j.flow, j.machine), j.session.engineLimits(),
		engine.WithStore(j.store), engine.WithTasks(j.tasks), engine.WithCatalog(&definition.Catalog{Store: j.store}),
		engine.WithLogger(j.session.logger()),
		engine.WithObserver(func(ev engine.Event) {
			if ev.Kind == engine.PlaceAwaited {
				show.Notice(placeAwaited(j.id, &ev))
				return
			}
			if ev.Kind == engine.OthersAwaited {
				if ev.Run == j.id && !awaited {
					show.Notice(fmt.Sprintf("waiting; ebb why %s says for whom", visible.Line(j.id)))
					awaited = true
				}
				return
			}
			version = true
			if ev.Kind == engine.RunDetached {
				company.join(heeding, ev.Name)
				return
			}
			if ev.Run != j.id { // it is one that the run has begun
				return
			}
			awaited = false
			if ev.Kind == engine.FlowChanged {
				state = ev.To
			}
			show.Happened(ev)
		}))
	if err != nil {
		return err
	}
	company.eng = eng
	done := j.heed(heeding, cancel, eng, show)
	company.joinAll(heeding, j.id)
	result, err := drive(heeding, eng, show)
	if result == nil { // it did not come to rest, and this process is to end
		cancel()
	} else {
		company.joinAll(heeding, j.id)
	}
	company.running.Wait()
	if asked := done(); errors.Is(err, engine.ErrStopped) && asked { // it is to be suspended all the same, and now no process drives it
		if run, held := j.hold(ctx); held {
			show.Happened(engine.Event{Run: j.id, Kind: engine.FlowChanged, From: state, To: run.State.String(), Time: run.Updated})
			stopShow()
			return j.rested(&run, show, fmt.Errorf("%w: run %q", engine.ErrSuspended, j.id))
		}
	}
	stopShow()
	if result == nil {
		return j.stopped(err, version)
	}
	return j.rested(&result.Run, show, err)
}

// placeAwaited says which limit a run waits for.
func placeAwaited(own string, ev *engine.Event) string {
	text := "waiting for a place: " + visible.Line(ev.Name)
	if ev.Run != own {
		text = "run " + visible.Line(ev.Run) + " is " + text
	}
	return text
}

func (j *runSession) reporter() view.Reporter {
	if j.quiet {
		return j.session.plainReporter()
	}
	t := j.tree
	if t == nil {
		t = inspect.NewTree(j.flow, j.id)
	}
	return j.session.reporter(t)
}

// rested reports how the run came to rest, and returns the error that has the exit status.
func (j *runSession) rested(run *storage.Run, show view.Reporter, err error) error {
	status := j.aim.status(statusOf(err), run)
	show.Rested(run, status)
	if errors.Is(err, engine.ErrSuspended) {
		j.session.noticeSuspended(run)
	}
	switch {
	case status == exitSuccess:
		return nil
	case err == nil:
		return &statusError{status: status, err: j.aim.missed(run)}
	default:
		return &statusError{status: status, err: err, told: true}
	}
}

// hold suspends the run, which this process no longer drives. It reports false if another
// process drives it.
func (j *runSession) hold(ctx context.Context) (storage.Run, bool) {
	ctx, cancel := context.WithTimeout(ctx, holdPatience)
	defer cancel()
	run, err := engine.Suspend(ctx, j.store, j.id)
	return run, err == nil && run.State == states.FlowSuspended
}

// holdPatience is how long hold waits for another process that took the run meanwhile.
const holdPatience = 5 * time.Second

// stopped returns the error of a run that did not come to rest. Once it has
// moved, nothing is wrong with how it was started: whatever stopped it, it goes
// on later.
func (j *runSession) stopped(err error, version bool) error {
	switch {
	case is[*statusError](err): // it was another process's
		return err
	case errors.Is(err, sqlstore.ErrReplaced): // where the run went on is not where the name leads
		return unreachable(err)
	case errors.Is(err, engine.ErrStopped) && j.quiet && !version:
		return noLongerWaiting(j.id)
	case errors.Is(err, engine.ErrStopped):
		return &statusError{status: exitSuspended, err: fmt.Errorf("stopped; go on with: ebb resume %s", j.id)}
	case version:
		return &statusError{status: exitSuspended, err: fmt.Errorf("%w; go on with: ebb resume %s", err, j.id)}
	}
	if owned, ok := errors.AsType[*storage.OwnedError](err); ok {
		return usagef("run %s is being run by process %d on %s (ebb show %s tells how far it is)", j.id, owned.Owner.PID, owned.Owner.Host, j.id)
	}
	if store, ok := errors.AsType[*engine.StoreError](err); ok {
		return unreachable(store.Err)
	}
	return refused(err)
}

// heed suspends the run on the first Ctrl-C and stops it on the second, and on
// SIGTERM, whose sender means the process and not the run. While another
// process drives the run, the first Ctrl-C ends the wait. The third is not heeded: it
// ends the process there and then. When the process is to stop it calls stop. It
// returns what ends the heeding, and tells whether the run was to be suspended.
func (j *runSession) heed(ctx context.Context, stop func(), eng *engine.Engine, show view.Reporter) (done func() (asked bool)) {
	asked := false
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	quit := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			select {
			case sig := <-signals:
				if sig == syscall.SIGTERM || asked || !j.mine(ctx) {
					signal.Stop(signals)
					stop()
					return
				}
				asked = true
				eng.Suspend()
				show.Notice("suspending: what runs may end; press Ctrl-C again to stop at once")
			case <-quit:
				return
			}
		}
	})
	return func() bool {
		signal.Stop(signals)
		close(quit)
		listening.Wait()
		return asked
	}
}

// interruptible returns a context that ends with the first Ctrl-C or SIGTERM.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// mine reports whether this process drives the run, as far as it can tell.
func (j *runSession) mine(ctx context.Context) bool {
	if j.follows.Load() {
		return false
	}
	run, err := j.store.Run(ctx, j.id)
	return err != nil || run.Owner == "" || run.Owner == j.store.Owner().ID
}
