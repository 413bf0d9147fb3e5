package exit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// The exit statuses. Only errors before a run's first step give 2 or 7. A later error is a failure of a task, which
// the definition may catch.
const (
	Success     = 0 // the run succeeded, or ended as --expect or the command says
	Failure     = 1 // the run failed with nothing to undo, or did not end as expected
	Usage       = 2 // wrong flags, an invalid definition, or a run that cannot start
	Reverted    = 3 // the run failed and is undone
	UndoFailed  = 4 // the undo of the run failed: it needs a person. Also if the run waits for that decision
	Suspended   = 5 // the run is suspended or stopped, and can be resumed; or ebb no longer waits for it
	NotFound    = 6 // no such run
	Unreachable = 7 // the database cannot be opened or read, or a command's output cannot be written
)

// An Error is an error with the status to exit with.
type Error struct {
	Status int
	Err    error
	Told   bool // the error was already printed
}

// Error returns the message of the wrapped error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Usagef returns an error of the command line, of a definition, or of a run that does not allow what was asked.
func Usagef(format string, args ...any) error {
	return &Error{Status: Usage, Err: fmt.Errorf(format, args...)}
}

// Refused returns the reason of an error that wraps [engine.ErrRefused] as an error of the command line, and any other
// error as it is.
func Refused(err error) error {
	if !errors.Is(err, engine.ErrRefused) {
		return err
	}
	return Usagef("%s", strings.TrimPrefix(err.Error(), engine.ErrRefused.Error()+": "))
}

// DatabaseError marks an error of the database. It returns nil, [storage.ErrNotFound], and an [Error], which already
// has a status, unchanged. That another run holds a key, that a run does not take a message, or that a job's id is
// taken, is no error of the database, but a wrong use.
func DatabaseError(err error) error {
	if taken, held := errors.AsType[*storage.KeyTakenError](err); held {
		return Usagef("run %q has the key %q and is still open", taken.Run, taken.Key)
	}
	if err == nil || errors.Is(err, storage.ErrNotFound) || is[*Error](err) {
		return err
	}
	if errors.Is(err, storage.ErrInvalid) || errors.Is(err, storage.ErrEnded) || errors.Is(err, storage.ErrFull) ||
		errors.Is(err, storage.ErrJobDiffers) {
		return Usagef("%w", err)
	}
	return &Error{Status: Unreachable, Err: err}
}

// Of returns the exit status for an error. An unknown error counts as a wrong use of the command line.
func Of(err error) int {
	if err == nil {
		return Success
	}
	if failed, ok := errors.AsType[*engine.FailedError](err); ok {
		if failed.UndoFailed {
			return UndoFailed
		}
		return Failure
	}
	if s, ok := errors.AsType[*Error](err); ok {
		return s.Status
	}
	if is[*engine.RevertedError](err) {
		return Reverted
	}
	switch {
	case errors.Is(err, engine.ErrSuspended), errors.Is(err, engine.ErrStopped):
		return Suspended
	case is[*storage.OwnedError](err), is[flow.Problems](err), errors.Is(err, engine.ErrChanged):
		return Usage // not startable
	case errors.Is(err, storage.ErrNotFound):
		return NotFound
	case is[*engine.StoreError](err):
		return Unreachable
	}
	return Usage
}

// OfRun returns the exit status for a run that is at rest.
func OfRun(run *storage.Run) int {
	switch {
	case run.State == states.FlowSuccess:
		return Success
	case run.State == states.FlowReverted:
		return Reverted
	case run.Undo == storage.UndoFailed:
		return UndoFailed
	case run.State == states.FlowFailure:
		return Failure
	default:
		return Suspended
	}
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// RunIs returns the error of a run whose state does not allow a command.
func RunIs(run *storage.Run, format string, args ...any) error {
	return Usagef("run %q is %s; %s", run.ID, run.State, fmt.Sprintf(format, args...))
}
