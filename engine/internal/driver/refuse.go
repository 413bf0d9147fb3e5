package driver

import (
	"errors"
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/storage"
)

// Refuse returns why the run, as it was loaded, does not allow a command.
func (r *run) Refuse(o *inbox.Command) error {
	if o.Err != nil {
		return o.Err
	}
	switch {
	case o.Kind == inbox.Resume && r.next.Head.State.Ended():
		return fmt.Errorf("%w: run %q has ended and cannot be resumed", ErrRefused, r.claim.Run)
	case o.Kind == inbox.Suspend, o.Kind == inbox.Resume:
		return nil
	}
	if h := &r.next.Head; h.Outcome == storage.Continued && h.State.Ended() {
		return fmt.Errorf("%w: run %q: %w", ErrRefused, r.claim.Run, errContinued(&storage.Run{Output: h.Output}))
	}
	so := o.Operator(0)
	err := r.s.Refuse(&so)
	if err == nil && o.Kind == inbox.Retry && r.next.Head.State.Ended() {
		err = r.keyLost()
	}
	if err == nil && r.Grows() && o.Kind == inbox.Retry {
		err = (reopening{loader{r}}).refuse(o)
	} else if err == nil && r.Grows() && o.Path != "" {
		if o.Kind == inbox.RevertTo {
			err = r.onStack(o.Path)
		} else {
			err = r.onTop(o.Path)
		}
	}
	if err == nil || notOfRun(err) {
		return err
	}
	return fmt.Errorf("%w: run %q: %w", ErrRefused, r.claim.Run, err)
}

// keyLost returns an error if another run holds the key that the run had before it ended.
func (r *run) keyLost() error {
	if r.about.Key == "" {
		return nil
	}
	holder, err := r.env.Store.OpenRun(r.storing, r.about.Key)
	switch {
	case errors.Is(err, storage.ErrNotFound) || err == nil && holder == r.claim.Run:
		return nil
	case err != nil:
		return WrapStore(r.claim.Run, err)
	default:
		return &storage.KeyTakenError{Key: r.about.Key, Run: holder}
	}
}

// onStack returns an error unless the atom at the path can be undone.
func (r *run) onStack(path string) error {
	for u, err := range r.undoStack(0) {
		if err != nil || u.Path == path {
			return err
		}
	}
	return fmt.Errorf("%q is not an atom that was done and can be undone; a dry run (--dry-run) lists those", path)
}

// onTop returns an error unless the atom at the path is the next one to undo.
func (r *run) onTop(path string) error {
	for u, err := range r.undoStack(0) {
		if err != nil || u.Path == path {
			return err
		}
		return fmt.Errorf("the undo did not stop at %q, but at %q", path, u.Path)
	}
	return nil
}

// undoStack reads the stored undo stack downward from below an entry; 0 starts at the top. When the process stops,
// undoStack ends with ErrStopped.
func (r *run) undoStack(below int64) iter.Seq2[storage.Undo, error] {
	return func(yield func(storage.Undo, error) bool) {
		for u, err := range storage.EachUndo(r.ctx, r.env.Store, r.claim.Run, below) {
			if err = WrapStore(r.claim.Run, err); r.ctx.Err() != nil {
				err = ErrStopped
			}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}
}

// notOfRun reports whether an error does not concern the run: the store failed, or the
// process must stop.
func notOfRun(err error) bool {
	_, broken := errors.AsType[*StoreError](err)
	return broken || errors.Is(err, ErrStopped)
}
