package drive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A Driver drives a run in this process until the run rests.
type Driver struct {
	Session *session.Session
	Store   backend.Store
	Machine definition.Machine
	Flow    string
	ID      string
	Tasks   *tasks.Registry
	Aim     exit.Aim

	quiet bool          // another process drives the run, so its end is printed as lines even on a terminal
	tree  *inspect.Tree // what the run did before; nil for a new run

	follows atomic.Bool // another process drives the run, or is releasing it
}

// Drive drives the run until it rests, shows it, and returns an error with the exit status.
func (d *Driver) Drive(ctx context.Context,
	drive func(context.Context, *engine.Engine, view.Reporter) (*engine.Result, error),
) error {
	d.Session.Drove = true
	show := d.reporter()
	var once sync.Once
	stopShow := func(t *inspect.Tree) { once.Do(func() { show.Stop(t) }) }
	defer stopShow(nil)
	version, awaited, state := false, false, ""
	heeding, cancel := context.WithCancel(ctx)
	defer cancel()
	company := &detachedRuns{session: d.Session}
	eng, err := engine.New(flow.Growing(d.Flow, d.Machine), d.Store,
		d.Session.EngineLimits(), engine.WithTasks(d.Tasks), engine.WithCatalog(&definition.Catalog{Store: d.Store}),
		engine.WithLogger(d.Session.Logger()),
		engine.WithObserver(func(ev engine.Event) {
			if ev.Kind == engine.PlaceAwaited {
				show.Notice(placeAwaited(d.ID, &ev))
				return
			}
			if ev.Kind == engine.OthersAwaited {
				if ev.Run == d.ID && !awaited && d.awaitsPeople(heeding) {
					show.Notice(fmt.Sprintf("waiting; ebb why %s says for whom", visible.Word(d.ID)))
					awaited = true
				}
				return
			}
			version = true
			if ev.Kind == engine.RunDetached {
				company.join(heeding, ev.Name)
				return
			}
			if ev.Run != d.ID { // the event is about a child run
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
	done := d.heed(heeding, cancel, eng, show)
	company.joinAll(heeding, d.ID)
	result, err := drive(heeding, eng, show)
	if result == nil { // the run did not come to rest, and this process must stop
		cancel()
	} else {
		company.joinAll(heeding, d.ID)
	}
	company.running.Wait()
	if asked := done(); errors.Is(err, engine.ErrStopped) && asked {
		// The request to suspend still holds, and no process drives the run now.
		if run, held := d.hold(ctx); held {
			show.Happened(engine.Event{
				Run: d.ID, Kind: engine.FlowChanged, From: state, To: run.State.String(),
				Time: run.Updated,
			})
			stopShow(nil)
			return d.rested(ctx, &run, show, nil, fmt.Errorf("%w: run %q", engine.ErrSuspended, d.ID))
		}
	}
	if result == nil {
		stopShow(nil)
		return d.Stopped(err, version)
	}
	t := d.ended(ctx, &result.Run)
	stopShow(t)
	return d.rested(ctx, &result.Run, show, t, err)
}

// awaitsPeople reports whether the run waits for a token or an event that another party has to send. A run that waits
// for a time, a retry, a worker or a child run continues by itself.
func (d *Driver) awaitsPeople(ctx context.Context) bool {
	run, err := d.Store.Run(ctx, d.ID)
	if err != nil {
		return false
	}
	if w := d.Machine.Waits(&run); w != nil && len(w.Transitions) > 0 {
		return true
	}
	tokens, err := d.Store.RunTokens(ctx, d.ID)
	return err == nil && slices.ContainsFunc(tokens, func(t storage.Token) bool {
		a, err := d.Store.Atom(ctx, d.ID, t.Path)
		return t.Queue == "" && err == nil && a.Kind != storage.KindRun
	})
}

// placeAwaited describes the limit for which a run waits.
func placeAwaited(own string, ev *engine.Event) string {
	text := "waiting for a limit: " + visible.Line(ev.Name)
	if ev.Run != own {
		text = "run " + visible.Line(ev.Run) + " is " + text
	}
	return text
}

func (d *Driver) reporter() view.Reporter {
	if d.quiet {
		return d.Session.PlainReporter()
	}
	t := d.tree
	if t == nil {
		t = inspect.NewTree(d.Flow, d.ID)
	}
	return d.Session.Reporter(t)
}

// rested reports how the run came to rest, and returns the error with the exit status. The tree is nil if it is not to
// be written.
func (d *Driver) rested(ctx context.Context, run *storage.Run, show view.Reporter, t *inspect.Tree, err error) error {
	status := exit.Of(err)
	if run.Undo == storage.UndoFailed {
		status = exit.UndoFailed
	}
	status = d.Aim.Status(status, run)
	undo := undoOf(ctx, d.Session, d.Store, run)
	if t != nil && (d.quiet || d.Session.Out.Terminal() == nil) { // otherwise the terminal shows it
		for _, line := range view.Tree(t, d.Store.Now(), d.Session.Page()) {
			fmt.Fprintln(d.Session.Out, line)
		}
	}
	show.Rested(run, &undo, status)
	if exit.LacksMock(run) {
		d.Session.Noticef("%s lacks a mock: add an answer to the case of the mock file, or map its task with --task "+
			"NAME=RESOURCE", visible.Line(run.Failure.Atom))
	}
	if errors.Is(err, engine.ErrSuspended) {
		noticeSuspended(d.Session, run)
	}
	switch {
	case status == exit.Success:
		return nil
	case err == nil:
		return &exit.Error{Status: status, Err: d.Aim.Missed(run)}
	default:
		return &exit.Error{Status: status, Err: err, Told: true}
	}
}

// ended returns the tree of a run that has ended, with all states that it visited; nil if the run has not ended, or the
// output is JSON.
func (d *Driver) ended(ctx context.Context, run *storage.Run) *inspect.Tree {
	if d.Session.JSON() || !run.State.Ended() {
		return nil
	}
	t, err := inspect.Recorded(ctx, d.Store, run, d.Machine.Tracer())
	if err != nil {
		d.Session.Noticef("what the run did cannot be read: %v", err)
		return nil
	}
	return t
}

// hold suspends the run, which this process no longer drives. It reports false if another
// process drives it.
func (d *Driver) hold(ctx context.Context) (storage.Run, bool) {
	ctx, cancel := context.WithTimeout(ctx, holdPatience)
	defer cancel()
	run, err := engine.Suspend(ctx, d.Store, d.ID)
	return run, err == nil && run.State == states.FlowSuspended
}

// holdPatience is how long hold waits for another process that took the run meanwhile.
const holdPatience = 5 * time.Second

// Stopped returns the error of a run that did not come to rest. If the run made progress, its start was valid, and
// it resumes later.
func (d *Driver) Stopped(err error, version bool) error {
	word := visible.Word(d.ID)
	_, isExit := errors.AsType[*exit.Error](err)
	switch {
	case isExit: // it was another process's
		return err
	case errors.Is(err, sqlstore.ErrReplaced): // the name of the database no longer leads to the file of the run
		return exit.DatabaseError(err)
	case errors.Is(err, engine.ErrStopped) && d.quiet && !version:
		return noLongerWaiting(d.ID)
	case errors.Is(err, engine.ErrStopped):
		return &exit.Error{Status: exit.Suspended, Err: fmt.Errorf("stopped; resume it with: ebb resume %s", word)}
	case version:
		return &exit.Error{Status: exit.Suspended, Err: fmt.Errorf("%w; resume it with: ebb resume %s", err, word)}
	}
	if owned, ok := errors.AsType[*storage.OwnedError](err); ok {
		return exit.Usagef("run %s is being driven by process %d on %s (ebb show %s shows its progress)", d.ID,
			owned.Owner.PID, owned.Owner.Host, word)
	}
	if store, ok := errors.AsType[*engine.StoreError](err); ok {
		return exit.DatabaseError(store.Err)
	}
	return exit.Refused(err)
}

// heed handles signals. The first Ctrl-C suspends the run; the second, or SIGTERM, stops the process, because the
// sender of SIGTERM means the process and not the run. While another process drives the run, the first Ctrl-C ends
// the wait. The third Ctrl-C ends the process at once. To stop the process, heed calls stop. It returns a function
// that ends the handling and reports whether the run should be suspended.
func (d *Driver) heed(ctx context.Context, stop func(), eng *engine.Engine,
	show view.Reporter,
) (done func() (asked bool)) {
	asked := false
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	quit := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			select {
			case sig := <-signals:
				if sig == syscall.SIGTERM || asked || !d.mine(ctx) {
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

// Interruptible returns a context that ends with the first Ctrl-C or SIGTERM.
func Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// mine reports whether this process drives the run, as far as it can tell.
func (d *Driver) mine(ctx context.Context) bool {
	if d.follows.Load() {
		return false
	}
	run, err := d.Store.Run(ctx, d.ID)
	return err != nil || run.Owner == "" || run.Owner == d.Store.Owner().ID
}
