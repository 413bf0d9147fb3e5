package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/planview"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Run starts the run with that id, or resumes it from its last commit, and returns when the run has come to rest.
// If the run has ended, Run returns its result from the store.
//
// Run returns these errors:
//
//   - [ErrInputsDiffer] if the run exists, and was started with other inputs
//   - *[RevertedError], *[FailedError] or [ErrSuspended], together with the result, if the run did not succeed
//   - [ErrStopped] if ctx ended first
//   - *[storage.OwnedError] if a live process owns the run
//   - with [Unload], *[storage.LimitedError] if a limit is reached; without Unload, Run waits for the limit
//   - [ErrChanged] if the run started on a flow of another structure
//   - *[StoreError] if the store failed; the run has the state of its last commit
func (e *Engine) Run(ctx context.Context, id string, opts ...RunOption) (*Result, error) {
	return e.run(ctx, id, opts, nil)
}

func (e *Engine) run(ctx context.Context, id string, opts []RunOption,
	yield func(states.Engine) bool,
) (*Result, error) {
	if id == "" {
		return nil, said(storage.ErrInvalid, "a run needs an id, such as the number of an order")
	}
	purpose := toGoOn
	if has[again](opts) {
		purpose = toBeginAnew
	}
	run, err := e.env.Store.Run(ctx, id)
	if err == nil {
		if err := e.checkSame(&run, opts); err != nil {
			return nil, err
		}
	}
	var d *driver.Driver
	var snap *backend.Snapshot
	isNew := errors.Is(err, storage.ErrNotFound)
	switch {
	case isNew && has[existing](opts):
		return nil, fmt.Errorf("engine: %w", err)
	case isNew:
		d, snap, err = e.begunNew(ctx, id, opts)
	case err != nil:
		err = session.Wrap(id, err)
	// If it has a due time, a command waits in its inbox.
	case run.State.Ended() && run.Due.IsZero() && purpose != toBeginAnew:
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
		if in, ok := o.(inMode); ok {
			d.Mode.Slot, d.Mode.Places, d.Mode.Quiet = in.mode.Slot, in.mode.Places, in.mode.Quiet
		}
	}
	res, err := e.finish(ctx, d, snap, purpose, opts)
	if isNew && !d.Owns() && (errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrLimited)) {
		// The run exists now: another process created it, or it was created without being started.
		return e.run(ctx, id, opts, yield)
	}
	if taken, is := errors.AsType[*storage.KeyTakenError](err); is && (!isNew || taken.Key != snap.Run.Key) {
		// Another run took the key of a child of the run, or of the run that was reopened, just before the commit.
		return e.run(ctx, id, opts, yield)
	}
	return res, err
}

// has reports whether opts contains an option of that type.
func has[T RunOption](opts []RunOption) bool {
	return slices.ContainsFunc(opts, func(o RunOption) bool { _, is := o.(T); return is })
}

// begunNew starts a run that its first commit creates.
func (e *Engine) begunNew(ctx context.Context, id string, opts []RunOption) (*driver.Driver, *backend.Snapshot, error) {
	b, err := e.begin(e.plan, id, opts)
	if err != nil {
		return nil, nil, err
	}
	b.run.Input = storage.Held{Data: b.whole}
	return e.takenOver(ctx, id, opts, func() (backend.Claim, *backend.Snapshot, error) {
		return backend.ClaimNew(b.run, b.checks...)
	})
}

// begun takes a run over with Begin or Seize of its store and loads it.
func (e *Engine) begun(
	ctx context.Context, id string, take func(context.Context, string) (backend.Claim, *backend.Snapshot, error),
	opts []RunOption,
) (*driver.Driver, *backend.Snapshot, error) {
	return e.takenOver(ctx, id, opts, func() (backend.Claim, *backend.Snapshot, error) { return take(ctx, id) })
}

func (e *Engine) takenOver(
	ctx context.Context, id string, opts []RunOption, take func() (backend.Claim, *backend.Snapshot, error),
) (*driver.Driver, *backend.Snapshot, error) {
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
		return nil, nil, session.Wrap(id, err)
	}
	plan, accepted, err := e.planFor(ctx, &snap.Run, opts)
	if err != nil {
		err = e.refuse(ctx, &snap.Run, e.changed(ctx, e.env.Store, err, &snap.Run, snap.Atoms))
		return nil, nil, errors.Join(err, e.claims.releaseUndriven(ctx, claim, snap))
	}
	d, err := e.driver(ctx, plan, claim, snap)
	if err == nil && accepted != nil {
		var facts map[string][]string
		if facts, err = planview.ReadFacts(ctx, e.env.Store, snap.Run.Structure); errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		err = errors.Join(err, d.Adopt(accepted.forget, snap.Atoms, facts), checkInput(plan, snap.Run.Input.Data))
		if err == nil {
			d.Accepted(changesSince(ctx, e.env.Store, plan, &snap.Run, snap.Atoms))
		}
	}
	if err != nil {
		return nil, nil, errors.Join(e.refuse(ctx, &snap.Run, err), e.claims.releaseUndriven(ctx, claim, snap))
	}
	d.Mode.Since = since
	return d, snap, nil
}

// A purpose is why a run was taken over.
type purpose uint8

const (
	toGoOn      purpose = iota
	toBeginAnew         // even if it has ended
	toApply             // only to apply the commands in its inbox, if it rests
)

// found returns why a process takes over a run that it found: a suspended run only if a command reaches it.
func found(snap *backend.Snapshot) purpose {
	if snap.Run.Hold {
		return toApply
	}
	return toGoOn
}

// finish drives a run that was taken over to rest.
func (e *Engine) finish(ctx context.Context, d *driver.Driver, snap *backend.Snapshot, why purpose,
	opts []RunOption,
) (*Result, error) {
	messages, ended := snap.Messages, snap.Run.State.Ended()
	if has[ignoreSuspend](opts) {
		messages = d.WithoutHolds(messages)
	}
	switch {
	case ended:
		messages = d.Late(&snap.Run, messages)
	case snap.Run.Hold:
		messages = d.VoidCalls(messages, driver.ErrHeld)
	}
	first, rest, resumed, err := d.FirstCommand(messages, why == toApply && snap.Run.Hold)
	if why == toBeginAnew && d.Grows() && ended {
		err = fmt.Errorf("%w: run %q: %w", ErrRefused, d.Claim.Run, errNoAgain)
	}
	held := first == nil && !ended && !resumed && len(inbox.Holds(rest)) > 0
	if err != nil || held ||
		first == nil && !resumed && (why == toApply && (ended || snap.Run.Hold) || why == toGoOn && ended) {
		took := d.HasTaken()
		if err == nil && took {
			err = d.ReleaseUnchanged(&snap.Run)
		}
		d.Close()
		if err != nil && inbox.HasCommand(messages) { // it was not read, and waits for the next owner
			e.claims.releaseSoon(context.WithoutCancel(ctx), d.Claim)
			return nil, err
		}
		if err != nil || !took {
			err = errors.Join(err, e.claims.releaseUndriven(ctx, d.Claim, snap))
		}
		switch {
		case err != nil:
			return nil, err
		case held:
			run, err := suspend(ctx, e.env.Store, d.Claim.Run, nil, true)
			if err != nil {
				return nil, err
			}
			return e.result(ctx, &run, nil)
		default:
			return e.result(ctx, &snap.Run, opts)
		}
	}
	if ended {
		d.BeginAnew()
	}
	if e.env.Log.IsInfo() { // skip building log arguments that would be discarded
		logBegin(d, &snap.Run)
	}
	if err := d.Live(first, rest); err != nil {
		return e.stopped(ctx, d, &snap.Run, err, opts)
	}
	row, failures := d.Result(snap.Run)
	if e.env.Log.IsWarn() {
		logRest(d.Log(), &row)
	}
	res := &Result{Run: row, s: d.Scheduler(), store: e.env.Store}
	return res, verdict(res, failures)
}

// stopped handles the error with which a run stopped before it came to rest.
func (e *Engine) stopped(ctx context.Context, d *driver.Driver, run *storage.Run, err error,
	opts []RunOption,
) (*Result, error) {
	switch {
	case errors.Is(err, ErrWaiting):
		return nil, err
	case errors.Is(err, driver.ErrAnswerGivenUp):
		e.claims.releaseAfter(ctx, d, err)
		if d.ComesToRest() { // the run rests and has no open request
			return e.Command(ctx, d.Claim.Run, Hold())
		}
		return e.resume(ctx, d, opts, true)
	case errors.Is(err, storage.ErrTaken) && d.Owns(): // another party has changed a token of the checkpoint
		e.claims.releaseAfter(ctx, d, err)
		return e.resume(ctx, d, opts, false)
	}
	switch {
	case d.Owns():
		logStop(d.Log(), run, err)
	case d.Mode.Answer: // another process was faster, and the requests are asked again
	case !notBegun(err):
		logStop(d.Log(), run, err)
	}
	e.claims.releaseAfter(ctx, d, err)
	return nil, err
}

// driver returns the driver of a run, created from its snapshot.
func (e *Engine) driver(ctx context.Context, plan *flow.Plan, claim backend.Claim,
	snap *backend.Snapshot,
) (*driver.Driver, error) {
	d, err := driver.New(ctx, &e.env, plan, claim, snap)
	if err != nil {
		return nil, err
	}
	d.Mode.Since, d.Mode.Places = e.env.Inbox.Mark(), e.childSlots
	if snap.Run.Definition == "" {
		e.keepView(ctx, plan)
	}
	return d, nil
}

// keepView stores what other processes, which have no code of the flow, need to draw it and to check what is sent to
// it.
func (e *Engine) keepView(ctx context.Context, plan *flow.Plan) {
	if !plan.Grows() {
		e.views.Write(ctx, e.env.Store, plan)
	}
}

// resume resumes a run from its last commit. If it is urgent, a call of its language was given up. Then resume applies
// the pending command or deadline, and does not ask the language about the end of the run again.
func (e *Engine) resume(ctx context.Context, d *driver.Driver, opts []RunOption, urgent bool) (*Result, error) {
	opts = slices.DeleteFunc(slices.Clone(opts), func(o RunOption) bool { _, is := o.(ignoreSuspend); return is })
	next, snap, err := e.begun(ctx, d.Claim.Run, e.env.Store.Seize, opts)
	if err != nil {
		return nil, err
	}
	since := next.Mode.Since
	next.Mode = d.Mode
	next.Mode.Since, next.Mode.Urgent = since, urgent
	return e.finish(ctx, next, snap, toGoOn, opts)
}

// Steps is [Engine.Run] phase by phase: RESUMING, then SCHEDULING, WAITING and ANALYZING in turn, and at last how
// the run ended. Between two phases the run waits for the loop, and only running atoms continue. Therefore, one
// loop can drive several runs (see [iter.Pull2]).
//
// If the loop ends early, the run is suspended and comes to rest before the loop statement returns. If the loop's
// body panics, the run stops at its last commit. If the run does not succeed, Steps yields the error that
// [Engine.Run] would return as its last value, with an undefined phase. If the process dies between two phases, the
// run has the state of its last commit.
//
// The sequence may contain RESUMING a second time: after the engine gave up a call of the run (see
// [Engine.GivenUp]), if a limit is reached for a new run, or if another process creates the run at the same time.
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
