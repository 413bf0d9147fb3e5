package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/session"
)

var (
	// ErrSuspended is returned, wrapped, if the run came to rest on purpose: an operator or [Engine.Suspend]
	// suspended it, or a failed revert waits for an operator's decision, see [atom.Park]. To resume a suspended
	// run, call Run again. After a failed revert, an operator resumes the run with a [Command].
	ErrSuspended = errors.New("engine: the run is suspended")
	// ErrStopped is returned if the context of Run was cancelled. The store does not record that. When Run is
	// called again, the run resumes from its last commit.
	ErrStopped = driver.ErrStopped
	// ErrChanged is returned, wrapped, if the run started on a flow of another structure. Run wrote nothing. See
	// [Flows] and [AcceptChange].
	ErrChanged = driver.ErrChanged
)

// A RevertedError is returned if a run failed, or was ended by [Cancel] or its deadline, and was undone.
type RevertedError struct {
	Run      string          // id of the run
	Failures []*atom.Failure // the failures because of which the engine undid the run
}

// Error names the failures.
func (e *RevertedError) Error() string {
	return fmt.Sprintf("engine: run %q was undone: %s", e.Run, list(e.Failures))
}

// Unwrap returns the failures.
func (e *RevertedError) Unwrap() []error { return asErrors(e.Failures) }

// A FailedError is returned if a run failed and is not or not completely undone. There may have been nothing to undo,
// undoing may have failed, the run may have passed a pivot, or [Abandon] may have ended it.
type FailedError struct {
	Run        string          // id of the run
	Failures   []*atom.Failure // why it failed
	UndoFailed bool            // an atom should be undone and is not

	causes []*atom.Failure // because of which the run was undone
}

// Error names the failures. If the undo failed, it also names those because of which the run was undone.
func (e *FailedError) Error() string {
	if e.UndoFailed {
		undo := slices.DeleteFunc(slices.Clone(e.Failures), func(f *atom.Failure) bool {
			return slices.Contains(e.causes, f)
		})
		if len(undo) == 0 || len(e.causes) == 0 {
			return fmt.Sprintf("engine: run %q failed and could not be undone: %s", e.Run, list(e.Failures))
		}
		return fmt.Sprintf("engine: run %q failed: %s; and could not be undone: %s", e.Run, list(e.causes), list(undo))
	}
	return fmt.Sprintf("engine: run %q failed: %s", e.Run, list(e.Failures))
}

// Unwrap returns the failures.
func (e *FailedError) Unwrap() []error { return asErrors(e.Failures) }

// A StoreError is returned if the store failed. It says nothing about the run, which has the state of its last
// commit. Its fields are Run, the run's id, and Err, the store's error.
type StoreError = session.StoreError

func asErrors(failures []*atom.Failure) []error {
	errs := make([]error, len(failures))
	for i, f := range failures {
		errs[i] = f
	}
	return errs
}

// list formats the first few failures.
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

// A saidError is of the kind of another error, whose text says nothing that a user needs.
type saidError struct {
	text string
	kind error
}

func said(kind error, format string, args ...any) error {
	return &saidError{"engine: " + fmt.Sprintf(format, args...), kind}
}

// Error returns the text.
func (e *saidError) Error() string { return e.text }

// Unwrap returns the other error.
func (e *saidError) Unwrap() error { return e.kind }

func quote(s string) string { return strconv.Quote(s) }
