package driver

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Refuse returns why the run, as it was loaded, does not allow a command.
func (r *run) Refuse(cmd *inbox.Command) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	if late, err := r.isLate(cmd); err != nil {
		return err
	} else if late {
		return fmt.Errorf("%w: run %q has gone on since: another command was faster", ErrRefused, r.Claim.Run)
	}
	switch {
	case cmd.Kind == inbox.Suspend && r.Draft.Head.State.Ended():
		return fmt.Errorf("%w: run %q has ended and cannot be suspended", ErrRefused, r.Claim.Run)
	case cmd.Kind == inbox.Resume && r.Draft.Head.State.Ended():
		return fmt.Errorf("%w: run %q has ended and cannot be resumed", ErrRefused, r.Claim.Run)
	case cmd.Kind == inbox.Resume && !r.rests:
		return fmt.Errorf("%w: run %q is not suspended", ErrRefused, r.Claim.Run)
	case cmd.Kind == inbox.Suspend, cmd.Kind == inbox.Resume:
		return nil
	}
	if h := &r.Draft.Head; h.Outcome == storage.Continued && h.State.Ended() {
		return fmt.Errorf("%w: run %q: %w", ErrRefused, r.Claim.Run, errContinued(&storage.Run{Output: h.Output}))
	}
	so := cmd.Operator(0)
	err := r.s.Refuse(&so)
	if err == nil && cmd.Kind == inbox.Revert && r.Draft.Head.State == states.FlowSuccess && !r.revertible() {
		err = errors.New("nothing that it did can be undone")
	}
	if err == nil && cmd.Kind == inbox.Retry && r.Draft.Head.State.Ended() {
		err = r.keyLost()
	}
	if err == nil && r.Grows() && cmd.Kind == inbox.Retry {
		err = r.refuseReopen(cmd)
	} else if err == nil && r.Grows() && cmd.Path != "" {
		if cmd.Kind == inbox.RevertTo {
			err = r.onStack(cmd.Path)
		} else {
			err = r.onTop(cmd.Path)
		}
	}
	if err == nil || notOfRun(err) {
		return err
	}
	return fmt.Errorf("%w: run %q: %w", ErrRefused, r.Claim.Run, err)
}

// isLate reports whether the run has gone on since who gave the command read it at rest. If a former owner of the run
// has accepted the command, it is not late.
func (r *run) isLate(cmd *inbox.Command) (bool, error) {
	if cmd.Next == 0 {
		return false, nil
	}
	if r.rests {
		lines, err := r.env.Store.History(r.storing, r.Claim.Run, cmd.Next-1, backend.MaxMessages)
		if err != nil || !slices.ContainsFunc(lines, func(e storage.Entry) bool { return e.Kind == storage.EntryFlow }) {
			return false, r.Wrap(err)
		}
	}
	t, err := r.env.Store.Token(r.storing, cmd.Answer)
	if errors.Is(err, storage.ErrNotFound) {
		return true, nil
	}
	return t.Failure != nil, r.Wrap(err)
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
	case errors.Is(err, storage.ErrNotFound) || err == nil && holder == r.Claim.Run:
		return nil
	case err != nil:
		return r.Wrap(err)
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
		for u, err := range storage.EachUndo(r.ctx, r.env.Store, r.Claim.Run, below) {
			if err = r.Wrap(err); r.ctx.Err() != nil {
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
	_, broken := errors.AsType[*session.StoreError](err)
	return broken || errors.Is(err, ErrStopped)
}
