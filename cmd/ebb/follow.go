package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A follower shows the progress of a run that another process drives.
type follower struct {
	*runSession

	show  view.Reporter
	told  int64         // number of the last entry of the run's history that was shown
	owner storage.Owner // the process that drives the run, or drove it last
}

// along resumes the run. While another process drives the run, along shows its
// progress. When that process has gone, this process drives the run.
func (f *follower) along(ctx context.Context, eng *engine.Engine, opts []engine.RunOption) (*engine.Result, error) {
	res, err := eng.Run(ctx, f.id, append(opts, engine.IgnoreSuspend())...)
	for {
		owned, is := errors.AsType[*storage.OwnedError](err)
		if !is {
			return res, err
		}
		f.leaveTo(owned.Owner)
		f.follows.Store(true)
		run, rests, lost := f.follow(ctx)
		f.follows.Store(false)
		switch {
		case lost != nil:
			return nil, lost
		case rests && run.State == states.FlowSuspended:
			return &engine.Result{Run: run}, fmt.Errorf("%w: run %q", engine.ErrSuspended, f.id)
		case !rests:
			f.show.Notice(fmt.Sprintf("process %d on %s has gone; going on with run %s", f.owner.PID, f.owner.Host, visible.Line(f.id)))
		}
		res, err = eng.Run(ctx, f.id, opts...) // without IgnoreSuspend: the operator who suspended the run knew that it was running
	}
}

// leaveTo prints which process drives the run from now on.
func (f *follower) leaveTo(owner storage.Owner) {
	f.owner = owner
	f.show.Notice(fmt.Sprintf("run %s is run by process %d on %s; following it (Ctrl-C leaves it running)",
		visible.Line(f.id), f.owner.PID, f.owner.Host))
}

// follow shows the run until it has come to rest, or the process that had it last
// is no more. A process that only releases the run, as the run waits, takes it up again.
func (f *follower) follow(ctx context.Context) (run storage.Run, rests bool, err error) {
	const look, lookAlive = 100 * time.Millisecond, time.Second
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	asked := time.Now() // when the owner was last checked
	for {
		changed := f.store.Changed()
		gone := false
		if time.Since(asked) >= lookAlive {
			owner, err := ownerOf(ctx, f.store, f.owner.ID)
			gone, asked = err == nil && !owner.Alive, time.Now()
		}
		run, err := f.look(ctx) // after the former: what has gone writes nothing any more
		ended := run.State.Ended() || run.State == states.FlowSuspended && run.Hold
		switch {
		case ctx.Err() != nil:
			return run, false, f.unfollowed()
		case err != nil:
			return run, false, unreachable(err)
		case ended && (gone || run.Owner == ""): // else its owner may be about to apply a command
			return run, true, nil
		case run.Owner != "" && run.Owner != f.owner.ID:
			owner, err := ownerOf(ctx, f.store, run.Owner)
			if err != nil {
				return run, false, unreachable(err)
			}
			f.leaveTo(owner)
		case gone:
			return run, false, nil
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// look shows what has happened since the last look, and returns the run's row from
// before that.
func (f *follower) look(ctx context.Context) (storage.Run, error) {
	run, err := f.store.Run(ctx, f.id)
	for err == nil && f.told < run.Entries {
		var entries []storage.Entry
		if entries, err = f.store.History(ctx, f.id, f.told, storage.PageRecords); err != nil || len(entries) == 0 {
			return run, err // there are none of a run that keeps no history
		}
		for i := range entries {
			if err := f.tell(ctx, &run, &entries[i]); err != nil {
				return run, err
			}
			f.told = entries[i].Seq
		}
	}
	return run, err
}

// tell shows an entry of the run's history as the event that it tells of.
func (f *follower) tell(ctx context.Context, run *storage.Run, e *storage.Entry) error {
	ev := engine.Event{Run: f.id, Flow: run.Flow, Path: e.Path, Attempt: e.Attempt, Failure: e.Failure, Time: e.Time}
	switch e.Kind {
	case storage.EntryFlow:
		ev.Kind, ev.Path, ev.From, ev.To = engine.FlowChanged, "", states.Flow(e.From).String(), states.Flow(e.To).String()
	case storage.EntryAtom:
		a, err := f.store.Atom(ctx, f.id, e.Path)
		if err != nil && !errors.Is(err, storage.ErrNotFound) { // it may have been forgotten since
			return err
		}
		ev.Kind, ev.From, ev.To = engine.AtomChanged, states.Task(e.From).String(), states.Task(e.To).String()
		ev.Timer, ev.Inner = a.Kind == storage.KindTimer, a.Kind == storage.KindFork || a.Kind == storage.KindFlow
		if a.State == states.Task(e.To) {
			ev.Due = a.Due
		}
	default:
		return nil
	}
	f.show.Happened(ev)
	return nil
}

// unfollowed is the error of a command that is to wait no longer.
func (f *follower) unfollowed() error {
	err := fmt.Errorf("no longer following run %[1]s, which process %[2]d on %[3]s goes on with (ebb show %[1]s tells how far it is)",
		f.id, f.owner.PID, f.owner.Host)
	return &statusError{status: exitSuspended, err: err}
}
