package engine

import (
	"errors"
)

// Rerun lets Run drive a run that has ended. A run that was undone starts again. A run that succeeded succeeds
// again without executing an atom. A run that failed resumes where it stopped. If a failed run was not undone, use
// [RetryFrom] instead: with [flow.LeaveFailed] the run has nothing to resume, and ends FAILURE again.
// For a run of a language, Run returns an error that wraps [ErrRefused]. Start another run.
func Rerun() RunOption { return again{} }

type again struct{}

func (again) begin(*beginning) error { return nil }

var errNoAgain = errors.New("a run of a language cannot start again; start another run")
