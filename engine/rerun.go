package engine

import (
	"errors"
)

// Rerun lets Run drive a run that has ended. A run that was undone begins anew. A
// run that succeeded succeeds again without doing anything. A run that failed resumes
// where it stands. If a failed run was not undone, use [RetryFrom] instead: with
// [flow.LeaveFailed] there is nothing to resume, and the run ends REVERTED, as in
// TaskFlow. A run of a language does not begin anew: Run returns an error that wraps
// [ErrRefused]. Start another run.
func Rerun() RunOption { return again{} }

type again struct{}

func (again) begin(*beginning) error { return nil }

var errNoAgain = errors.New("a run of a language does not begin anew; start another")
