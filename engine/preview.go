package engine

import (
	"context"
	"iter"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/storage"
)

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
