// Package notcalled marks errors of tasks that were not called, because their arguments could not be read. Nothing was
// done, and nothing is undone: a Revert could not read the arguments either.
package notcalled

import "errors"

// before is an error that came before the call of a task; called is an error that the task itself returned.
type (
	before struct{ error }
	called struct{ error }
)

func (e before) Unwrap() error { return e.error }
func (e called) Unwrap() error { return e.error }

func (before) notCalled() bool { return true }
func (called) notCalled() bool { return false }

// Error returns err, with which a task was not called.
func Error(err error) error { return before{err} }

// ByTask returns an error that a task returned. It may hold the error of another task, which that task called.
func ByTask(err error) error {
	if Is(err) {
		return called{err}
	}
	return err
}

// Is reports whether the task that failed with err was not called.
func Is(err error) bool {
	e, ok := errors.AsType[interface {
		error
		notCalled() bool
	}](err)
	return ok && e.notCalled()
}
