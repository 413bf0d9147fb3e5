package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Run starts the run of that id, or resumes it from its last commit, and returns when the
// run has come to rest. If the run has ended, Run returns its result from the store.
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
	run, err := e.env.Store.Run(ctx, id)
	var d *driver.Driver
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
		d, snap, err = e.begun(ctx, id, e.env.Store.Begin, opts)
	}
	if errors.Is(err, storage.ErrLimited) && !has[unload](opts) {
		d, snap, err = e.placed(ctx, id, opts, err)
	}
	if err != nil {
		return nil, err
	}
	d.Mode.Yield, d.Mode.Unload = yield, has[unload](opts)
	for _, o := range opts {
		if s, ok := o.(inSlot); ok {
			d.Mode.Slot, d.Mode.Places = s.slot, s.slot.Places
		}
	}
	res, err := e.finish(ctx, d, snap, purpose, opts)
	if isNew && !d.Owns() && (errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrLimited)) {
		return e.run(ctx, id, opts, yield) // it exists now, created by another process or without having begun
	}
	return res, err
}

// has reports whether an option of that type is among them.
func has[T RunOption](opts []RunOption) bool {
	return slices.ContainsFunc(opts, func(o RunOption) bool { _, is := o.(T); return is })
}

// begunNew begins a run that is made with its first commit.
func (e *Engine) begunNew(ctx context.Context, id string, opts []RunOption) (*driver.Driver, *storage.Snapshot, error) {
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
) (*driver.Driver, *storage.Snapshot, error) {
	return e.takenOver(ctx, id, opts, func() (storage.Claim, *storage.Snapshot, error) { return take(ctx, id) })
}

func (e *Engine) takenOver(
	ctx context.Context, id string, opts []RunOption, take func() (storage.Claim, *storage.Snapshot, error),
) (*driver.Driver, *storage.Snapshot, error) {
	since := e.env.Inbox.Mark()
	if err := e.claims.releaseLeft(ctx, id); err != nil {
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
		return nil, nil, errors.Join(err, e.claims.releaseUndriven(ctx, claim, snap))
	}
	d, err := e.driver(ctx, plan, claim, snap)
	if err == nil && accepted != nil {
		err = errors.Join(d.Adopt(accepted.forget, snap.Atoms), e.checkInput(snap.Run.Input.Data))
	}
	if err != nil {
		return nil, nil, errors.Join(err, e.claims.releaseUndriven(ctx, claim, snap))
	}
	d.Mode.Since = since
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
func (e *Engine) finish(ctx context.Context, d *driver.Driver, snap *storage.Snapshot, why purpose, opts []RunOption) (*Result, error) {
	messages, ended := snap.Messages, snap.Run.State.Ended()
	if has[ignoreSuspend](opts) {
		messages = d.WithoutHolds(messages)
	}
	first, rest, err := d.FirstCommand(messages)
	if why == toBeginAnew && d.Grows() && ended {
		err = fmt.Errorf("%w: run %q: %w", ErrRefused, d.Claim().Run, errNoAgain)
	}
	held := first == nil && !ended && len(inbox.Holds(rest)) > 0
	if err != nil || held || first == nil && (why == toApply && rests(&snap.Run) || why == toGoOn && ended) {
		d.Close()
		err = errors.Join(err, e.claims.releaseUndriven(ctx, d.Claim(), snap))
		switch {
		case err != nil:
			return nil, err
		case held:
			return e.Command(ctx, d.Claim().Run, Hold())
		default:
			return e.result(ctx, &snap.Run, opts)
		}
	}
	if ended {
		d.BeginAnew()
	}
	tells := e.env.Log.IsInfo() // skip building log arguments that would be discarded
	if tells {
		e.env.Log.Info("run begins", "run", d.Claim().Run, "flow", snap.Run.Flow, "state", snap.Run.State)
	}
	if err := d.Live(first, rest); errors.Is(err, ErrWaiting) {
		return nil, err
	} else if errors.Is(err, driver.ErrAnswerGivenUp) {
		e.claims.releaseAfter(ctx, d, err)
		if d.ComesToRest() { // and asks nothing more
			return e.Command(ctx, d.Claim().Run, Hold())
		}
		return e.resumeWithoutAnswer(ctx, d, opts)
	} else if err != nil {
		e.env.Log.Info("run stopped", "run", d.Claim().Run, "error", err)
		e.claims.releaseAfter(ctx, d, err)
		return nil, err
	}
	if tells {
		e.env.Log.Info("run rests", "run", d.Claim().Run, "state", d.State())
	}
	row, failures := d.Result(snap.Run)
	res := &Result{Run: row, s: d.Scheduler()}
	return res, verdict(&res.Run, failures)
}

func wrapStore(id string, err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Run: id, Err: err}
}

func (e *Engine) now() time.Time { return time.Now() }

// driver returns the driver of a run, made from what was loaded of it.
func (e *Engine) driver(ctx context.Context, plan *flow.Plan, claim storage.Claim, snap *storage.Snapshot) (*driver.Driver, error) {
	d, err := driver.New(ctx, &e.env, plan, claim, snap)
	if err != nil {
		return nil, err
	}
	d.Mode.Since, d.Mode.Places = e.env.Inbox.Mark(), e.childSlots
	return d, nil
}

// resumeWithoutAnswer goes on with a run whose answer was given up, from its last commit, with
// what is wanted of it. Its language is not asked any more what it says to the end of
// the run.
func (e *Engine) resumeWithoutAnswer(ctx context.Context, d *driver.Driver, opts []RunOption) (*Result, error) {
	opts = slices.DeleteFunc(slices.Clone(opts), func(o RunOption) bool { _, is := o.(ignoreSuspend); return is })
	next, snap, err := e.begun(ctx, d.Claim().Run, e.env.Store.Seize, opts)
	if err != nil {
		return nil, err
	}
	since := next.Mode.Since
	next.Mode = d.Mode
	next.Mode.Since, next.Mode.Urgent = since, true
	return e.finish(ctx, next, snap, toGoOn, opts)
}

// Steps is [Engine.Run] phase by phase: RESUMING, then SCHEDULING, WAITING and
// ANALYZING in turn, and at last how the run ended. Between two phases the run
// waits for the loop, except for the atoms that execute, so several runs can be
// driven by one loop (see [iter.Pull2]). Leaving the loop early suspends the run,
// which comes to rest before the loop is left. A panic of the loop's body stops
// the run at its last commit. A run that does not succeed yields the error that
// [Engine.Run] would return as its last, with the phase undefined. When the
// process dies between two phases the run is as it was last committed. A run
// whose answer was given up (see [Engine.GivenUp]), and a new run for which there
// is no place, or that another process creates at the same time, resumes once
// more.
func (e *Engine) Steps(ctx context.Context, id string, opts ...RunOption) iter.Seq2[states.Engine, error] {
	return func(yield func(states.Engine, error) bool) {
		left := false
		_, err := e.run(ctx, id, opts, func(phase states.Engine) bool {
			left = left || !yield(phase, nil)
			return !left
		})
		if err != nil && !left {
			yield(states.EngineUndefined, err)
		}
	}
}
