package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
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
// *[storage.OwnedError] when a live process owns the run; with [Unload] a
// *[storage.LimitedError] when there is no place for it, otherwise Run waits for
// one; [ErrChanged]; and
// *[StoreError] when the store failed, which leaves the run as it was last
// committed.
func (e *Engine) Run(ctx context.Context, id string, opts ...RunOption) (*Result, error) {
	return e.run(ctx, id, opts, nil)
}

func (e *Engine) run(ctx context.Context, id string, opts []RunOption, yield func(states.Engine) bool) (*Result, error) {
	purpose := toGoOn
	if has[again](opts) {
		purpose = toBeginAnew
	}
	run, err := e.store.Run(ctx, id)
	var d *driver
	var snap *storage.Snapshot
	isNew := errors.Is(err, storage.ErrNotFound)
	switch {
	case isNew:
		d, snap, err = e.begunNew(ctx, id, opts)
	case err != nil:
		err = wrapStore(id, err)
	case run.State.Ended() && run.Due.IsZero() && purpose != toBeginAnew: // with a due time, a command waits in its inbox
		return e.result(ctx, &run, opts)
	default:
		d, snap, err = e.begun(ctx, id, e.store.Begin, opts)
	}
	if errors.Is(err, storage.ErrLimited) && !has[unload](opts) {
		d, snap, err = e.placed(ctx, id, opts, err)
	}
	if err != nil {
		return nil, err
	}
	d.yield, d.unload = yield, has[unload](opts)
	for _, o := range opts {
		if s, ok := o.(*slot); ok {
			d.slot = s
		}
	}
	res, err := e.finish(ctx, d, snap, purpose, opts)
	if isNew && !d.owns() && (errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrLimited)) {
		return e.run(ctx, id, opts, yield) // it exists now, created by another process or without having begun
	}
	return res, err
}

// has reports whether an option of that type is among them.
func has[T RunOption](opts []RunOption) bool {
	return slices.ContainsFunc(opts, func(o RunOption) bool { _, is := o.(T); return is })
}

// begunNew begins a run that is made with its first commit.
func (e *Engine) begunNew(ctx context.Context, id string, opts []RunOption) (*driver, *storage.Snapshot, error) {
	b, err := e.begin(id, opts)
	if err != nil {
		return nil, nil, err
	}
	b.run.Created = e.now()
	b.run.Input = storage.Held{Data: b.whole}
	return e.takenOver(ctx, id, opts, func() (storage.Claim, *storage.Snapshot, error) { return storage.ClaimNew(b.run) })
}

// begun takes a run over by Begin or Seize of its store and loads it.
func (e *Engine) begun(
	ctx context.Context, id string, take func(context.Context, string) (storage.Claim, *storage.Snapshot, error), opts []RunOption,
) (*driver, *storage.Snapshot, error) {
	return e.takenOver(ctx, id, opts, func() (storage.Claim, *storage.Snapshot, error) { return take(ctx, id) })
}

func (e *Engine) takenOver(
	ctx context.Context, id string, opts []RunOption, take func() (storage.Claim, *storage.Snapshot, error),
) (*driver, *storage.Snapshot, error) {
	rounds, evictions := e.post.rounds.Load(), e.store.Evictions()
	if err := e.releaseLeftClaims(ctx, id); err != nil {
		return nil, nil, err
	}
	claim, snap, err := take()
	if err != nil {
		_, owned := errors.AsType[*storage.OwnedError](err)
		if owned || errors.Is(err, storage.ErrLimited) {
			return nil, nil, err
		}
		return nil, nil, &StoreError{Run: id, Err: err}
	}
	plan, accepted, err := e.planFor(ctx, &snap.Run, opts)
	if err != nil {
		return nil, nil, errors.Join(err, e.releaseUndriven(ctx, claim, snap))
	}
	d, err := e.driver(ctx, plan, claim, snap)
	if err == nil && accepted != nil {
		err = errors.Join(d.adopt(accepted, snap.Atoms), e.checkInput(snap.Run.Input.Data))
	}
	if err != nil {
		return nil, nil, errors.Join(err, e.releaseUndriven(ctx, claim, snap))
	}
	d.rounds, d.evictions = rounds, evictions
	return d, snap, nil
}

// A purpose is what a run was taken over for.
type purpose uint8

const (
	toGoOn      purpose = iota
	toBeginAnew         // also when it has ended
	toApply             // to apply the commands in its inbox, and nothing else
)

// finish drives a run that was taken over to rest.
func (e *Engine) finish(ctx context.Context, d *driver, snap *storage.Snapshot, why purpose, opts []RunOption) (*Result, error) {
	messages, ended := snap.Messages, snap.Run.State.Ended()
	if has[ignoreSuspend](opts) {
		messages = d.lifted(messages)
	}
	first, rest, err := d.firstCommand(messages)
	if why == toBeginAnew && d.grows() && ended {
		err = fmt.Errorf("%w: run %q: %w", ErrRefused, d.claim.Run, errNoAgain)
	}
	held := first == nil && !ended && len(holds(rest)) > 0
	if err != nil || held || first == nil && (why == toApply && rests(&snap.Run) || why == toGoOn && ended) {
		d.release()
		err = errors.Join(err, e.releaseUndriven(ctx, d.claim, snap))
		switch {
		case err != nil:
			return nil, err
		case held:
			return e.Command(ctx, d.claim.Run, Hold())
		default:
			return e.result(ctx, &snap.Run, opts)
		}
	}
	if ended {
		d.next.Head.Outcome, d.next.Head.Output, d.next.Head.Ended = storage.Unfinished, storage.Held{}, time.Time{}
	}
	tells := e.log.IsInfo() // skip building log arguments that would be discarded
	if tells {
		e.log.Info("run begins", "run", d.claim.Run, "flow", d.plan.Flow, "state", snap.Run.State)
	}
	if err := d.live(first, rest); errors.Is(err, ErrWaiting) {
		return nil, err
	} else if errors.Is(err, errAnswerGivenUp) {
		d.releaseAfter(err)
		return e.resumeWithoutAnswer(ctx, d, opts)
	} else if err != nil {
		e.log.Info("run stopped", "run", d.claim.Run, "error", err)
		d.releaseAfter(err)
		return nil, err
	}
	if tells {
		e.log.Info("run rests", "run", d.claim.Run, "state", d.next.Head.State)
	}
	return d.result(snap.Run)
}

// releaseUndriven releases a run that was not driven. If a message arrived meanwhile, the
// run is due at once.
func (e *Engine) releaseUndriven(ctx context.Context, claim storage.Claim, snap *storage.Snapshot) error {
	if claim.Begins > 0 { // it has not begun
		return nil
	}
	return wrapStore(claim.Run, e.release(context.WithoutCancel(ctx), claim, snap.Run.Wakeups, time.Time{}))
}

func wrapStore(id string, err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Run: id, Err: err}
}

// driver makes the driver of a run from what was loaded of it.
func (e *Engine) driver(ctx context.Context, plan *flow.Plan, claim storage.Claim, snap *storage.Snapshot) (*driver, error) {
	run := &snap.Run
	d := &driver{
		e: e, plan: plan, ctx: ctx, storing: context.WithoutCancel(ctx), claim: claim, secrets: run.Secrets, undos: run.Undos,
		parent: run.Parent, root: run.Root, depth: run.Depth, trace: run.Trace, job: run.Job, created: run.Created,
		external: map[string]*external{}, children: map[string]*scheduler.Node{},
		suspend: e.suspend, places: e.childSlots, wakeups: run.Wakeups, rounds: e.post.rounds.Load(), evictions: e.store.Evictions(),
		wake: make(chan struct{}, 1), handoff: make(chan struct{}, 1), rest: make(chan stopped, 1),

		watched: len(e.observers) > 0 || e.log.IsDebug(),
		stretch: stretch{since: e.now(), patience: patience},
	}
	d.interrupt = d.interrupts
	if err := d.findTasks(run); err != nil {
		return nil, err
	}
	e.buffers.Lend(&d.next)
	d.next.Now = e.now()
	d.next.Init(plan, run.ID, e.policy == NoHistory, storage.Head{
		Seq: run.Seq, State: run.State, Outcome: run.Outcome, Undo: run.Undo, Output: run.Output, Failure: run.Failure,
		Started: run.Started, Entries: run.Entries, Events: run.Events, Refs: run.Refs, Growth: run.Growth,
	})
	d.attempted = true // an attempt too many may have been committed
	if d.next.Head.Started.IsZero() {
		d.next.Head.Started = d.next.Now
	}
	whole := d.next.Held(run.Input)
	d.about = flow.Run{ID: run.ID, Flow: run.Flow, Definition: run.Definition, Started: d.next.Head.Started, Input: whole, Attributes: run.Attrs}
	symbols := map[string]atom.Value{}
	if !d.grows() {
		var err error
		if symbols, err = symbolsOf(whole); err != nil {
			return nil, fmt.Errorf("engine: run %q: %w", run.ID, err)
		}
	}
	d.s = scheduler.New(plan, symbols, whole)
	if err := d.load(snap); err != nil {
		return nil, err
	}
	d.calls.Init(ctx, &e.calls, executor.Host{Claim: claim, Created: run.Created, Driver: d})
	d.unwatch = context.AfterFunc(d.ctx, d.calls.Halt)
	return d, nil
}

// findTasks finds the tasks that the run's atoms name.
func (d *driver) findTasks(run *storage.Run) error {
	d.tasks = d.e.tasks
	c, ok := d.e.catalog.(TaskCatalog)
	if !ok {
		return nil
	}
	tasks, err := c.Tasks(d.storing, run)
	if err != nil {
		return fmt.Errorf("engine: the tasks of run %q: %w", run.ID, err)
	}
	if tasks != nil {
		d.tasks = tasks
	}
	return nil
}

// release frees what a driver holds beside its run.
func (d *driver) release() {
	if d.expiry != nil {
		d.expiry.Stop()
	}
	d.unwatch()
	d.calls.Halt()
}

func (d *driver) grows() bool { return grows(d.plan) }

// owns reports whether the run was taken over: a claim by [storage.Store.Due] or
// [storage.ClaimNew] begins with the first commit.
func (d *driver) owns() bool { return d.claim.Begins <= d.next.Head.Seq }

func (e *Engine) now() time.Time { return time.Now() }

// symbolsOf takes an input apart into its symbols.
func symbolsOf(whole atom.Value) (map[string]atom.Value, error) {
	symbols, err := whole.Fields()
	if err != nil {
		return nil, fmt.Errorf("engine: the input is no object whose members are symbols: %w", err)
	}
	return symbols, nil
}
