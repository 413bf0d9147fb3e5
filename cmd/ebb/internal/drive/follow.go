package drive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A follower shows the progress of a run that another process drives.
type follower struct {
	*Driver

	show  view.Reporter
	told  int64         // number of the last entry of the run's history that was shown
	owner storage.Owner // the process that drives the run, or drove it last
}

// RunOrFollow starts or resumes the run. While another process drives the run, it shows the progress after entry
// told of the history.
func (d *Driver) RunOrFollow(ctx context.Context, told int64, opts []engine.RunOption) error {
	return d.Drive(ctx, func(ctx context.Context, eng *engine.Engine, show view.Reporter) (*engine.Result, error) {
		f := follower{Driver: d, show: show, told: told}
		return f.along(ctx, eng, opts)
	})
}

// along resumes the run. While another process drives the run, along shows its
// progress. When that process has gone, this process drives the run.
func (f *follower) along(ctx context.Context, eng *engine.Engine, opts []engine.RunOption) (*engine.Result, error) {
	res, err := eng.Run(ctx, f.ID, append(opts, engine.IgnoreSuspend())...)
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
			return &engine.Result{Run: run}, fmt.Errorf("%w: run %q", engine.ErrSuspended, f.ID)
		case !rests:
			f.show.Notice(fmt.Sprintf("process %d on %s has gone; this process now drives run %s", f.owner.PID, f.owner.Host,
				visible.Line(f.ID)))
		}
		// Without IgnoreSuspend: the operator who suspended the run knew that it was running.
		res, err = eng.Run(ctx, f.ID, opts...)
	}
}

// leaveTo prints which process drives the run from now on.
func (f *follower) leaveTo(owner storage.Owner) {
	f.owner = owner
	f.show.Notice(fmt.Sprintf("run %s is driven by process %d on %s; following it (Ctrl-C leaves it running)",
		visible.Line(f.ID), f.owner.PID, f.owner.Host))
}

// follow shows the run until it has come to rest, or the process that last drove it has gone. A process that
// released a waiting run takes the run up again itself.
func (f *follower) follow(ctx context.Context) (run storage.Run, rests bool, err error) {
	const look, lookAlive = 100 * time.Millisecond, time.Second
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	asked := time.Now() // when the owner was last checked
	for {
		changed := f.Store.Changed()
		gone := false
		if time.Since(asked) >= lookAlive {
			owner, err := session.FindOwner(ctx, f.Store, f.owner.ID)
			gone, asked = err == nil && !owner.Alive, time.Now()
		}
		run, err := f.look(ctx) // after the check of the owner: a dead owner writes nothing more
		ended := run.State.Ended() || run.State == states.FlowSuspended && run.Hold
		switch {
		case ctx.Err() != nil:
			return run, false, f.unfollowed()
		case err != nil:
			return run, false, exit.DatabaseError(err)
		case ended && (gone || run.Owner == ""): // otherwise its owner may be about to apply a command
			return run, true, nil
		case run.Owner != "" && run.Owner != f.owner.ID:
			owner, err := session.FindOwner(ctx, f.Store, run.Owner)
			if err != nil {
				return run, false, exit.DatabaseError(err)
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

// look shows the new entries of the history, and returns the run's record from before that.
func (f *follower) look(ctx context.Context) (storage.Run, error) {
	run, err := f.Store.Run(ctx, f.ID)
	for err == nil && f.told < run.Entries {
		var entries []storage.Entry
		if entries, err = f.Store.History(ctx, f.ID, f.told, storage.PageRecords); err != nil || len(entries) == 0 {
			return run, err // a run without history has no entries
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

// tell shows an entry of the run's history as an event.
func (f *follower) tell(ctx context.Context, run *storage.Run, e *storage.Entry) error {
	ev := engine.Event{Run: f.ID, Flow: run.Flow, Path: e.Path, Attempt: e.Attempt, Failure: e.Failure, Time: e.Time}
	switch e.Kind {
	case storage.EntryFlow:
		ev.Kind, ev.Path, ev.From, ev.To = engine.FlowChanged, "", states.Flow(e.From).String(), states.Flow(e.To).String()
	case storage.EntryAtom:
		a, err := f.Store.Atom(ctx, f.ID, e.Path)
		if err != nil && !errors.Is(err, storage.ErrNotFound) { // the atom may have been deleted since
			return err
		}
		ev.Kind, ev.From, ev.To = engine.AtomChanged, states.Task(e.From).String(), states.Task(e.To).String()
		ev.Reverts = !a.UndoPasses()
		ev.Timer, ev.Inner = a.Kind == storage.KindTimer, a.Kind == storage.KindFork || a.Kind == storage.KindFlow
		if a.State == states.Task(e.To) {
			ev.Due = a.Due
		}
	case storage.EntryStays, storage.EntryMayStay:
		ev.Kind, ev.From, ev.To = engine.WorkStays, states.Task(e.From).String(), string(e.Status())
	default:
		return nil
	}
	f.show.Happened(ev)
	return nil
}

// unfollowed returns the error of a command that stops waiting.
func (f *follower) unfollowed() error {
	err := fmt.Errorf("no longer following run %s, which process %d on %s still drives (ebb show %s shows its progress)",
		f.ID, f.owner.PID, f.owner.Host, visible.Word(f.ID))
	return &exit.Error{Status: exit.Suspended, Err: err}
}
