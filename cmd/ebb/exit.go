package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// The exit statuses. Only what is known before a run's first step gives 2 or 7;
// what breaks later is a failure of a task, which the definition may catch.
const (
	exitSuccess     = 0 // the run succeeded, or ended as expected
	exitFailure     = 1 // the run failed, and there was nothing to undo; or it did not end as expected
	exitUsage       = 2 // wrong flags, an invalid definition, or a run that cannot be started
	exitReverted    = 3 // the run failed and is undone
	exitUndoFailed  = 4 // the run failed and could not be undone
	exitSuspended   = 5 // the run is at rest and goes on with ebb resume, or is no longer waited for
	exitNotFound    = 6 // there is no such run
	exitUnreachable = 7 // the database cannot be opened or read, or output cannot be written
)

// A statusError says with which status to exit.
type statusError struct {
	status int
	err    error
	told   bool // the user was told already
}

// Error returns the message of the wrapped error.
func (e *statusError) Error() string { return e.err.Error() }

// Unwrap returns the error behind it.
func (e *statusError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &statusError{status: exitUsage, err: fmt.Errorf(format, args...)}
}

// refused says in the user's words why a run refuses a command.
func refused(err error) error {
	if !errors.Is(err, engine.ErrRefused) {
		return err
	}
	return usagef("%s", strings.TrimPrefix(err.Error(), engine.ErrRefused.Error()+": "))
}

// unreachable marks an error of the database; nil stays nil.
func unreachable(err error) error {
	if err == nil || errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return &statusError{status: exitUnreachable, err: err}
}

// statusOf returns the exit status for an error. What nothing is known about is
// a wrong use of the command line.
func statusOf(err error) int {
	if err == nil {
		return exitSuccess
	}
	if failed, ok := errors.AsType[*engine.FailedError](err); ok {
		if failed.UndoFailed {
			return exitUndoFailed
		}
		return exitFailure
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		return s.status
	}
	if is[*engine.RevertedError](err) {
		return exitReverted
	}
	switch {
	case errors.Is(err, engine.ErrSuspended), errors.Is(err, engine.ErrStopped):
		return exitSuspended
	case is[*storage.OwnedError](err), is[flow.Problems](err), errors.Is(err, engine.ErrChanged):
		return exitUsage // not startable
	case errors.Is(err, storage.ErrNotFound):
		return exitNotFound
	case is[*engine.StoreError](err):
		return exitUnreachable
	}
	return exitUsage
}

// statusOfRun returns the exit status for a run that is at rest.
func statusOfRun(run *storage.Run) int {
	switch {
	case run.State == states.FlowSuccess:
		return exitSuccess
	case run.State == states.FlowReverted:
		return exitReverted
	case run.State == states.FlowFailure && run.Undo == storage.UndoFailed:
		return exitUndoFailed
	case run.State == states.FlowFailure:
		return exitFailure
	default:
		return exitSuspended
	}
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// An aim is how a command wants a run to come to rest: then it exits with 0. The
// zero aim is SUCCESS.
type aim struct {
	reached func(run *storage.Run) bool
	wanted  string // "expected REVERTED"
}

// expect is the aim of --expect; "" is none.
func expect(state string) aim {
	if state == "" {
		return aim{}
	}
	return aim{func(run *storage.Run) bool { return run.State.String() == state }, "expected " + state}
}

// status returns the exit status of a run that came to rest, and would give the
// status without an aim.
func (a *aim) status(status int, run *storage.Run) int {
	switch {
	case a.reached == nil:
		return status
	case a.reached(run):
		return exitSuccess
	case status == exitSuccess:
		return exitFailure
	default:
		return status
	}
}

// missed is the error of a run that ended well, which was not wanted.
func (a *aim) missed(run *storage.Run) error {
	return fmt.Errorf("%s, and the run ended %s", a.wanted, run.State)
}
