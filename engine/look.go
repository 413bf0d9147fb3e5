package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Detached yields the ids of the child runs that have not ended and that a run does not wait for, or no longer waits
// for. It includes such child runs of these: parents before children. It reads them page by page and leaves out runs
// that are purged meanwhile. It ends with the first error. If the run itself does not exist, the error wraps
// [storage.ErrNotFound]. [Engine.Run] does not drive these runs to their ends, [Engine.Serve] does. When the run
// creates a child that it never waits for, observers receive [RunDetached].
func (e *Engine) Detached(ctx context.Context, run string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if _, err := e.detached(ctx, run, func(id string) bool { return yield(id, nil) }); err != nil {
			yield("", fmt.Errorf("engine: child runs of %q: %w", run, err))
		}
	}
}

// detached passes the runs of Detached to yield until yield returns false. For each ancestor it holds only one page of
// ids, because there may be very many runs.
func (e *Engine) detached(ctx context.Context, run string, yield func(string) bool) (more bool, err error) {
	for q := (storage.AtomQuery{Limit: storage.PageRecords}); ; {
		begun, last, err := e.detachedIn(ctx, run, q)
		if err != nil || last == "" {
			return true, err
		}
		for _, id := range begun {
			child, err := e.env.Store.Run(ctx, id)
			switch {
			case errors.Is(err, storage.ErrNotFound) || err == nil && child.Parent != run:
				continue // the child was never created, or was purged
			case err != nil:
				return false, err
			case !child.State.Ended() && !yield(id):
				return false, nil
			}
			more, err := e.detached(ctx, id, yield)
			if err != nil && !errors.Is(err, storage.ErrNotFound) || !more {
				return false, err
			}
		}
		q.After = last
	}
}

// detachedIn returns the ids of the child runs that the atoms of one page do not wait for. It also returns the path
// of the last atom of the page, "" if the page is empty.
func (e *Engine) detachedIn(
	ctx context.Context, run string, q storage.AtomQuery,
) (begun []string, last string, err error) {
	page, err := e.env.Store.Atoms(ctx, run, q)
	for i := range page {
		a := &page[i]
		last = a.Path
		if id, awaited := backend.BegunBy(run, a); id != "" && !awaited {
			begun = append(begun, id)
		}
	}
	return begun, last, err
}

// A PreviewStep is an atom that a command would undo, or at which the undo would stop, see [Engine.Preview].
type PreviewStep struct {
	Path   string         // path of the atom
	Status storage.Status // REVERTED, or that what it did stays done, or may, because nothing reverts it
	Stops  bool           // it is a point of no return: the undo keeps it, with its Status, and all that came before it
}

// String returns the path of the atom, and what the undo does with it.
func (s PreviewStep) String() string {
	if s.Stops {
		return fmt.Sprintf("%s %s, the undo stops here", s.Path, s.Status)
	}
	return s.Path + " " + string(s.Status)
}

// Preview yields the atoms that a command would undo, in the order of undoing, if every revert succeeds. The last ones
// are the points of no return at which the undo would stop, if there are any. Preview reads the atoms page by page, so
// it can yield any number. It changes nothing. If a process drives the run, Preview yields what the command would undo
// if it arrived now. The sequence ends with the first error. If the run does not allow the command, the error wraps
// [ErrRefused]. If ctx ends, it is [ErrStopped].
func (e *Engine) Preview(ctx context.Context, id string, o Command) iter.Seq2[PreviewStep, error] {
	return func(yield func(PreviewStep, error) bool) {
		err := e.preview(ctx, id, &o, func(step driver.PreviewStep) bool { return yield(PreviewStep(step), nil) })
		switch {
		case err == nil:
		case ctx.Err() != nil:
			yield(PreviewStep{}, ErrStopped)
		default:
			yield(PreviewStep{}, err)
		}
	}
}

// preview is Preview; it stops if tell returns false.
func (e *Engine) preview(ctx context.Context, id string, o *Command, tell func(driver.PreviewStep) bool) error {
	d, live, err := e.look(ctx, id)
	if err != nil {
		return err
	}
	defer d.Close()
	return driver.Preview(d, &o.c, live, tell)
}

// look loads a run without taking it over, and returns its live atoms, too.
func (e *Engine) look(ctx context.Context, id string) (*driver.Driver, []storage.Atom, error) {
	run, err := e.env.Store.Run(ctx, id)
	if err != nil {
		return nil, nil, session.Wrap(id, err)
	}
	atoms, err := e.env.Store.Atoms(ctx, id, storage.AtomQuery{Live: true})
	if err != nil {
		return nil, nil, session.Wrap(id, err)
	}
	tokens, err := e.env.Store.RunTokens(ctx, id)
	if err != nil {
		return nil, nil, session.Wrap(id, err)
	}
	plan, _, err := e.planFor(ctx, &run, nil)
	if err != nil {
		return nil, nil, err
	}
	d, err := e.driver(ctx, plan, backend.Claim{Run: id}, &backend.Snapshot{Run: run, Atoms: atoms, Tokens: tokens})
	return d, atoms, err
}
