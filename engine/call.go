package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// ErrEnded is wrapped by the errors of calls to a run that has ended, or is ending.
var ErrEnded = driver.ErrEnded

// A RefusedCall is the error of a call that the language of its run has refused. The run has not changed.
type RefusedCall struct { //nolint:errname // what was refused is the call
	Run   string     // id of the run
	Value atom.Value // what the language says to the caller, see [grow.Growth]
}

// Error gives the language's value.
func (e *RefusedCall) Error() string {
	return fmt.Sprintf("engine: run %q refused the call: %.200s", e.Run, e.Value)
}

// Call asks the language of a run, with the cause [grow.Asked], and returns its reply. When Call returns, what the
// language has answered is durable, and every later read sees it. If the run has changed since it was loaded, Call
// loads it again. Calls of this process to one run are answered one after the other, in their order, and share a
// commit. If a process drives the run now, that process answers the call, also while it makes a long call of a task.
//
// Call only answers: what the run is to execute then makes it due, for [Server.Serve] of any process.
//
// Call returns these errors:
//
//   - *[RefusedCall] if the language refuses the call; the run does not change
//   - an error that wraps [ErrEnded] if the run has ended or is ending
//   - an error that wraps [ErrSuspended] if an operator has suspended the run
//   - an error that wraps [ErrRefused] if the run's flow has no language
//   - the error of ctx if ctx ends before the call is begun; the run does not change
//   - the failure of the flow, as *[atom.Failure], if the language panics or the call exceeds a limit of the run
//   - *[StoreError], which wraps [storage.ErrNotFound] if there is no such run
//
// If the error wraps [storage.ErrUnsure], the call may have been answered.
func (s *Server) Call(ctx context.Context, run, name string, body atom.Value) (atom.Value, error) {
	r := &driver.Request{Kind: driver.AskRun, Run: run, Name: name, Body: body}
	err := callers{s.engine}.request(ctx, r)
	if errors.Is(err, driver.ErrNoLanguage) {
		err = fmt.Errorf("%w: run %q is not a run of a language", ErrRefused, run)
	}
	return r.Reply, err
}

// callers are the callers of this process that ask runs.
type callers struct{ e *Engine }

// request waits until a request was answered.
func (c callers) request(ctx context.Context, r *driver.Request) error {
	e := c.e
	if r.Run == "" {
		return said(storage.ErrInvalid, "a call needs the id of a run")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := e.env.Requests.Await(ctx, r, func() bool { return e.env.Inbox.Wake(r.Run) }, func() { c.lead(ctx, r) })
	switch {
	case err == nil && r.Refused != nil:
		return &RefusedCall{Run: r.Run, Value: r.Refused}
	case errors.Is(err, driver.ErrHeld):
		return fmt.Errorf("%w: run %q", ErrSuspended, r.Run)
	}
	return err
}

// The pauses between attempts to load a run that another process drives, or whose language cannot be asked now.
const (
	leastCallPause = 2 * time.Millisecond
	mostCallPause  = 100 * time.Millisecond
)

// lead loads the run of a request and answers all requests to it, until the caller's own request was answered. If ctx
// ends meanwhile, it leaves the rest to the next caller.
func (c callers) lead(ctx context.Context, r *driver.Request) {
	pause := leastCallPause
	for waited := time.Duration(0); ; {
		again, owned := c.answer(context.WithoutCancel(ctx), r.Run)
		if owned && waited >= ownPatience {
			c.pass(context.WithoutCancel(ctx), r.Run)
		}
		select {
		case <-r.Done():
			return
		default:
		}
		if !again && ctx.Err() == nil {
			continue
		}
		t := time.NewTimer(pause)
		waited += pause
		select {
		case <-t.C:
		case <-r.Done(): // a driver of this process has answered it
		case <-ctx.Done():
			t.Stop()
			return
		}
		t.Stop()
		if pause = min(2*pause, mostCallPause); c.e.env.Inbox.Wake(r.Run) {
			return
		}
	}
}

// answer loads a run and answers the requests to it. It reports whether to wait before the next attempt, and whether
// another process drives the run. A request that is still open after a failure has been taken by another driver.
func (c callers) answer(ctx context.Context, run string) (wait, owned bool) {
	e := c.e
	by := e.env.Requests.Added()
	fail := func(err error) (wait, owned bool) { e.env.Requests.Fail(run, by, err); return true, false }
	since := e.env.Inbox.Mark()
	if err := e.claims.releaseLeft(ctx, run); err != nil {
		return fail(err)
	}
	claim, snap, err := e.env.Store.Load(ctx, run)
	if _, owned := errors.AsType[*storage.OwnedError](err); owned {
		return true, true
	}
	if err != nil {
		return fail(session.Wrap(run, err))
	}
	switch {
	case snap.Run.State.Ended():
		return fail(fmt.Errorf("%w: %q", ErrEnded, run))
	case snap.Run.Hold && !backend.ReachesHeld(snap.Messages...):
		return fail(fmt.Errorf("%w: run %q", driver.ErrHeld, run))
	}
	plan, _, err := e.planFor(ctx, &snap.Run, nil)
	if err != nil {
		return fail(e.changed(ctx, e.env.Store, err, &snap.Run, snap.Atoms))
	}
	if !plan.Grows() {
		return fail(driver.ErrNoLanguage)
	}
	d, err := e.driver(ctx, plan, claim, snap)
	if err != nil {
		return fail(err)
	}
	d.Mode.Since, d.Mode.Answer, d.Mode.Unload = since, true, true
	_, err = e.finish(ctx, d, snap, found(snap), nil)
	return !d.HasAnswered() && !errors.Is(err, storage.ErrFenced) && !errors.Is(err, storage.ErrTaken), false
}
