package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Run starts the run of that id, or goes on with it where its last commit left
// it, and returns when it has come to rest. A run that has ended is answered
// from the store.
//
// It returns *[RevertedError], *[FailedError] or [ErrSuspended] together with
// the result when the run did not succeed; [ErrStopped] when ctx ended first;
// *[storage.OwnedError] when somebody alive is running it; [ErrChanged]; and
// *[StoreError] when the store failed, which leaves the run as it was last
// committed.
func (e *Engine) Run(ctx context.Context, id string, opts ...RunOption) (*Result, error) {
	run, err := e.find(ctx, id, opts)
	if err != nil {
		return nil, err
	}
	if run.Structure != e.plan.Hash {
		return nil, fmt.Errorf("%w: run %q", ErrChanged, id)
	}
	if run.State.Ended() {
		return e.result(ctx, run)
	}
	claim, snap, err := e.store.Begin(ctx, id)
	if err != nil {
		if _, owned := errors.AsType[*storage.OwnedError](err); owned {
			return nil, err
		}
		return nil, &StoreError{Run: id, Err: err}
	}
	if snap.Run.State.Ended() { // it ended between the two looks
		if err := e.store.Release(ctx, claim, snap.Run.Bell, time.Time{}); err != nil {
			return nil, &StoreError{Run: id, Err: err}
		}
		return e.result(ctx, snap.Run)
	}
	d, err := e.driver(ctx, claim, snap)
	if err != nil {
		return nil, errors.Join(err, e.store.Release(context.WithoutCancel(ctx), claim, snap.Run.Bell, time.Time{}))
	}
	e.log.Info("run begins", "run", id, "flow", e.plan.Flow, "state", snap.Run.State)
	if err := d.drive(); err != nil {
		e.log.Info("run stopped", "run", id, "error", err)
		d.letGo()
		return nil, err
	}
	e.log.Info("run rests", "run", id, "state", d.head.State)
	return d.result(snap.Run)
}

// find returns the run's head row, making the run if there is none.
func (e *Engine) find(ctx context.Context, id string, opts []RunOption) (storage.Run, error) {
	run, err := e.store.Run(ctx, id)
	if err == nil || !errors.Is(err, storage.ErrNotFound) {
		return run, wrapStore(id, err)
	}
	b, err := e.begin(id, opts)
	if err != nil {
		return run, err
	}
	b.run.Created = e.now()
	b.run.Input = storage.Held{Data: b.whole}
	switch err := e.store.Create(ctx, b.run); {
	case errors.Is(err, storage.ErrExists):
		run, err := e.store.Run(ctx, id)
		return run, wrapStore(id, err)
	default:
		return b.run, wrapStore(id, err)
	}
}

func wrapStore(id string, err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Run: id, Err: err}
}

// driver makes the driver of a run from what was loaded of it.
func (e *Engine) driver(ctx context.Context, claim storage.Claim, snap *storage.Snapshot) (*driver, error) {
	run := &snap.Run
	d := &driver{
		e: e, ctx: ctx, storing: context.WithoutCancel(ctx), claim: claim, undos: run.Undos, now: e.now(),
		specs:  map[*scheduler.Node]atom.Value{},
		flying: map[*scheduler.Node]*call{},
		done:   make(chan finished, e.parallel), suspend: e.suspend,

		watched: len(e.observers) > 0 || e.log.IsDebug(),
	}
	d.head = storage.Head{
		Seq: run.Seq, State: run.State, Outcome: run.Outcome, Undo: run.Undo, Output: run.Output,
		Started: run.Started, Entries: run.Entries, Events: run.Events, Refs: run.Refs,
	}
	if d.head.Started.IsZero() {
		d.head.Started = d.now
	}
	whole := d.held(run.Input)
	d.about = flow.Run{ID: run.ID, Flow: run.Flow, Started: d.head.Started, Input: whole, Attributes: run.Attrs}
	symbols := map[string]atom.Value{}
	if !e.grows() {
		var err error
		if symbols, err = symbolsOf(whole); err != nil {
			return nil, fmt.Errorf("engine: run %q: %w", run.ID, err)
		}
	}
	d.s = scheduler.New(e.plan, e.resolution, symbols, whole)
	if err := d.load(snap); err != nil {
		return nil, err
	}
	d.atomCtx, d.halt = context.WithCancelCause(context.WithoutCancel(ctx))
	d.unwatch = context.AfterFunc(ctx, func() { d.halt(ErrStopped) })
	return d, nil
}

func (d *driver) load(snap *storage.Snapshot) error {
	run := &snap.Run
	records := make([]scheduler.Loaded, 0, len(snap.Atoms))
	for i := range snap.Atoms {
		l, err := d.loaded(&snap.Atoms[i])
		if err != nil {
			return d.storeError(err)
		}
		records = append(records, l)
		if l.Spec != nil && l.Spec.Group != nil {
			if records, err = d.loadEnded(&l, records); err != nil {
				return d.storeError(err)
			}
		}
	}
	if run.State != states.FlowPending || len(records) > 0 {
		d.s.Load(run.State, run.Memory, records, run.Undos, run.Undo != storage.UndoNone)
	}
	timers, err := d.e.store.RunTimers(d.storing, run.ID)
	if err != nil {
		return d.storeError(err)
	}
	for _, t := range timers { // the others come back with the waits they belong to
		if t.Kind == storage.TimerDeadline {
			d.timers.set(deadline, t.Due)
		}
	}
	return nil
}

// loadEnded adds the children of an open fork that have ended: they are not
// needed to go on, but their results are. Children are made in order, so the
// first that is not there is the last to look for.
func (d *driver) loadEnded(fork *scheduler.Loaded, records []scheduler.Loaded) ([]scheduler.Loaded, error) {
	for i := range fork.Spec.Group.Count {
		a, err := d.e.store.Atom(d.storing, d.claim.Run, scheduler.ChildPath(fork.Path, int(fork.Rec.Attempt), i))
		if errors.Is(err, storage.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		if a.Live {
			continue // loaded with the others
		}
		l, err := d.loaded(&a)
		if err != nil {
			return nil, err
		}
		records = append(records, l)
	}
	return records, nil
}

// letGo gives the run back after a stop, so that whoever comes next need not
// wait. That it may fail is no harm: who is dead owns nothing.
func (d *driver) letGo() {
	bell, _, err := d.e.store.Bell(d.storing, d.claim.Run)
	if err == nil {
		err = d.e.store.Release(d.storing, d.claim, bell, d.now)
	}
	if err != nil {
		d.e.log.Debug("the run was not given back", "run", d.claim.Run, "error", err)
	}
}

func (e *Engine) now() time.Time { return time.Now() }

// symbolsOf takes an input apart into its symbols.
func symbolsOf(whole atom.Value) (map[string]atom.Value, error) {
	symbols := map[string]atom.Value{}
	if err := whole.Decode(&symbols); err != nil {
		return nil, fmt.Errorf("engine: the input is no object whose members are symbols: %w", err)
	}
	return symbols, nil
}
