package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
)

var (
	// ErrSuspended is returned, wrapped, if the run came to rest on purpose: it was
	// asked to, or a revert that failed waits for an operator's decision, see
	// [atom.Park]. The run resumes when it is run again. If a revert failed, an
	// operator resumes the run with a [Command].
	ErrSuspended = errors.New("engine: the run is suspended")
	// ErrStopped is returned if the context of Run was cancelled. The store has no
	// record of that. The run resumes from its last commit when it is run again.
	ErrStopped = driver.ErrStopped
	// ErrChanged is returned, wrapped, when the run was begun on a flow of another
	// structure. Nothing was written. See [Flows] and [AcceptChange].
	ErrChanged = driver.ErrChanged
)

// A RevertedError is returned when a run failed, or was ended by [Cancel] or
// its deadline, and was undone.
type RevertedError struct {
	Run      string
	Failures []*atom.Failure // on account of which it was undone
}

// Error names the failures.
func (e *RevertedError) Error() string {
	return fmt.Sprintf("engine: run %q was undone: %s", e.Run, list(e.Failures))
}

// Unwrap returns the failures.
func (e *RevertedError) Unwrap() []error { return asErrors(e.Failures) }

// A FailedError is returned when a run failed and is not undone, or not all of
// it: because there was nothing to undo, undoing failed, a point of no return was
// passed, or the run was ended by [Abandon].
type FailedError struct {
	Run        string
	Failures   []*atom.Failure
	UndoFailed bool // something that was to be undone is not
}

// Error names the failures.
func (e *FailedError) Error() string {
	if e.UndoFailed {
		return fmt.Sprintf("engine: run %q failed and could not be undone: %s", e.Run, list(e.Failures))
	}
	return fmt.Sprintf("engine: run %q failed: %s", e.Run, list(e.Failures))
}

// Unwrap returns the failures.
func (e *FailedError) Unwrap() []error { return asErrors(e.Failures) }

// A StoreError is returned when the store failed. It says nothing about the
// run, which is as it was last committed. It has the run's id, Run, and the store's error, Err.
type StoreError = driver.StoreError

func asErrors(failures []*atom.Failure) []error {
	errs := make([]error, len(failures))
	for i, f := range failures {
		errs[i] = f
	}
	return errs
}

// list names the first few failures.
func list(failures []*atom.Failure) string {
	const most = 5
	var parts []string
	for i, f := range failures {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(failures)-most))
			break
		}
		parts = append(parts, f.Error())
	}
	return strings.Join(parts, "; ")
}

func quote(s string) string { return strconv.Quote(s) }
