package driver

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Refuse returns why the run, as it was loaded, does not allow a command.
func (r *run) Refuse(o *inbox.Command) error {
	if o.Err != nil {
		return o.Err
	}
	if late, err := r.isLate(o); err != nil {
		return err
	} else if late {
		return fmt.Errorf("%w: run %q has gone on since: another command was faster", ErrRefused, r.claim.Run)
	}
	switch {
	case o.Kind == inbox.Suspend && r.next.Head.State.Ended():
		return fmt.Errorf("%w: run %q has ended and cannot be suspended", ErrRefused, r.claim.Run)
	case o.Kind == inbox.Resume && r.next.Head.State.Ended():
		return fmt.Errorf("%w: run %q has ended and cannot be resumed", ErrRefused, r.claim.Run)
	case o.Kind == inbox.Resume && !r.rests:
		return fmt.Errorf("%w: run %q is not suspended", ErrRefused, r.claim.Run)
	case o.Kind == inbox.Suspend, o.Kind == inbox.Resume:
		return nil
	}
	if h := &r.next.Head; h.Outcome == storage.Continued && h.State.Ended() {
		return fmt.Errorf("%w: run %q: %w", ErrRefused, r.claim.Run, errContinued(&storage.Run{Output: h.Output}))
	}
	so := o.Operator(0)
	err := r.s.Refuse(&so)
	if err == nil && o.Kind == inbox.Revert && r.next.Head.State == states.FlowSuccess && !r.revertible() {
		err = errors.New("nothing that it did can be undone")
	}
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

// isLate reports whether the run has gone on since who gave the command read it at rest. If a former owner of the run
// has accepted the command, it is not late.
func (r *run) isLate(o *inbox.Command) (bool, error) {
	if o.Next == 0 {
		return false, nil
	}
	if r.rests {
		lines, err := r.env.Store.History(r.storing, r.claim.Run, o.Next-1, storage.MaxMessages)
		if err != nil || !slices.ContainsFunc(lines, func(e storage.Entry) bool { return e.Kind == storage.EntryFlow }) {
			return false, WrapStore(r.claim.Run, err)
		}
	}
	t, err := r.env.Store.Token(r.storing, o.Answer)
	if errors.Is(err, storage.ErrNotFound) {
		return true, nil
	}
	return t.Failure != nil, WrapStore(r.claim.Run, err)
}

// revertible reports whether an undo of a run that has succeeded can undo something.
func (r *run) revertible() bool {
	if r.Grows() {
		return r.stack.size > 0
	}
	return slices.ContainsFunc(r.plan.Atoms, func(a flow.PlanAtom) bool { return a.Reverts() })
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
