package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Detached returns the ids of the runs that a run has begun and does not wait for, or
// no longer, of those that these have begun, and so on, as far as they have not ended:
// parents before children. [Engine.Run] does not drive them to their ends,
// [Engine.Serve] does. An observer is told of those that are never waited for as they
// are begun, see [RunDetached].
func (e *Engine) Detached(ctx context.Context, run string) ([]string, error) {
	var open []string
	for todo := []string{run}; len(todo) > 0; todo = todo[1:] {
		for a, err := range storage.EachAtom(ctx, e.env.Store, todo[0], storage.AtomQuery{}) {
			if err != nil {
				return nil, fmt.Errorf("engine: what run %q has begun: %w", todo[0], err)
			}
			var spec flow.Spec
			if a.Kind != storage.KindRun || a.Spec.Decode(&spec) != nil || spec.Child == nil {
				continue
			}
			if !spec.Child.Detached && (a.State == states.TaskRunning || a.State == states.TaskReverting) {
				continue // its end is waited for
			}
			id := driver.ChildID(todo[0], a.Path, a.Attempt, spec.Child)
			child, err := e.env.Store.Run(ctx, id)
			switch {
			case errors.Is(err, storage.ErrNotFound) || err == nil && child.Parent != todo[0]:
				continue // it could not be begun, or was removed since
			case err != nil:
				return nil, fmt.Errorf("engine: what run %q has begun: %w", todo[0], err)
			case !child.State.Ended():
				open = append(open, id)
			}
			todo = append(todo, id)
		}
	}
	return open, nil
}

// Preview yields the paths of the atoms that a command would revert, in the order
// of reverting, if every revert succeeds. They may be many: Preview reads them page by
// page, as far as the caller wants them. It changes nothing. If the run does not allow
// the command, Preview yields an error that wraps [ErrRefused]; if ctx ends, [ErrStopped];
// it ends with an error. If a process drives the run, Preview yields what the command
// would revert if it arrived now.
func (e *Engine) Preview(ctx context.Context, id string, o Command) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := e.preview(ctx, id, &o, func(path string) bool { return yield(path, nil) })
		switch {
		case err == nil:
		case ctx.Err() != nil:
			yield("", ErrStopped)
		default:
			yield("", err)
		}
	}
}

// preview is Preview until tell returns false.
func (e *Engine) preview(ctx context.Context, id string, o *Command, tell func(path string) bool) error {
	d, live, err := e.look(ctx, id)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Preview(&o.c, live, tell)
}

// look loads a run for looking at it, and returns its live atoms, too.
func (e *Engine) look(ctx context.Context, id string) (*driver.Driver, []storage.Atom, error) {
	run, err := e.env.Store.Run(ctx, id)
	if err != nil {
		return nil, nil, wrapStore(id, err)
	}
	atoms, err := e.env.Store.Atoms(ctx, id, storage.AtomQuery{Live: true})
	if err != nil {
		return nil, nil, wrapStore(id, err)
	}
	plan, _, err := e.planFor(ctx, &run, nil)
	if err != nil {
		return nil, nil, err
	}
	d, err := e.driver(ctx, plan, storage.Claim{Run: id}, &storage.Snapshot{Run: run, Atoms: atoms})
	return d, atoms, err
}

// Explain describes for people how a run failed. It lists the atoms that failed, with their
// arguments, and below each the atoms that came directly before it, and so on back.
// Secrets are masked. If the run has not failed, Explain returns "". If there is no run of
// that id, it returns an error that wraps [storage.ErrNotFound].
func (e *Engine) Explain(ctx context.Context, run string) (string, error) {
	return explain(ctx, e.env.Store, e.plans, run)
}
