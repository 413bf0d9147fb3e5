package asl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Names of errors that the language itself raises.
const (
	statesAll               = "States.ALL"
	statesTimeout           = "States.Timeout"
	statesHeartbeatTimeout  = "States.HeartbeatTimeout"
	statesTaskFailed        = "States.TaskFailed"
	statesPermissions       = "States.Permissions"
	statesRuntime           = "States.Runtime"
	statesDataLimitExceeded = "States.DataLimitExceeded"
	statesResultPath        = "States.ResultPathMatchFailure"
	statesParameterPath     = "States.ParameterPathFailure"
	statesBranchFailed      = "States.BranchFailed"
	statesNoChoiceMatched   = "States.NoChoiceMatched"
	statesIntrinsicFailure  = "States.IntrinsicFailure"
	statesQueryEvaluation   = "States.QueryEvaluationError"
	statesTolerated         = "States.ExceedToleratedFailureThreshold"
	statesItemReader        = "States.ItemReaderFailed"
	statesResultWriter      = "States.ResultWriterFailed"
	statesReferencePath     = "States.ReferencePathConflict"
)

// A stateError is why a state failed, as Retry, Catch and histories show it.
type stateError struct {
	name  string // the error's name
	also  string // another name that Retry and Catch may know it by; "" for none
	cause string // "" for none
	bare  bool   // there is no name to show, only States.ALL and States.TaskFailed match
	place bool   // the cause is yet to be prefixed with the state it came from
	local bool   // it arose in processing data, not in a task: States.ALL does not match when it is a broken limit

	// Of a query: which field it is in, and whether its event follows from that of
	// entering the state.
	location string
	follows  bool
}

// runtimeError is what goes wrong when a state's data does not fit its
// definition.
func runtimeError(format string, args ...any) *stateError {
	return localError(statesRuntime, format, args...)
}

func localError(name, format string, args ...any) *stateError {
	return &stateError{name: name, cause: fmt.Sprintf(format, args...), place: true, local: true}
}

// limitError says that what gave too large a value: a state by its name, a
// Lambda function by its ARN, a service by its name.
func limitError(what string) *stateError {
	return &stateError{
		name:  statesDataLimitExceeded,
		cause: "The state/task '" + what + "' returned a result with a size exceeding the maximum number of bytes service limit.",
		local: true,
	}
}

// interrupted ends the evaluation of what nobody wants any more.
var interrupted = runtimeError("the evaluation was interrupted")

// taskError returns the error that a failed task, or a failed child flow, is to
// the language.
func taskError(failure *atom.Failure, what string) *stateError {
	if failure == nil {
		return &stateError{bare: true}
	}
	switch failure.Code {
	case atom.CodeTimeout, atom.CodeScheduleToStart, atom.CodeStartToClose:
		return &stateError{name: statesTimeout}
	case atom.CodeHeartbeatLost:
		return &stateError{name: statesTimeout, also: statesHeartbeatTimeout}
	case atom.CodeTooLarge:
		f := limitError(what)
		f.local = false
		return f
	}
	return &stateError{name: clipName(failure.Code), cause: failure.Message, bare: failure.Bare}
}

// clipName bounds the name of an error as AWS does.
func clipName(name string) string {
	if len(name) <= maxErrorName {
		return name
	}
	n := 0
	for i := range name {
		if n++; n > maxErrorName {
			return name[:i]
		}
	}
	return name
}

// failure returns the stored form.
func (f *stateError) failure() *atom.Failure {
	code := f.name
	if f.bare {
		code = statesTaskFailed
	}
	return &atom.Failure{Code: code, Message: f.cause, Bare: f.bare}
}

// matches reports whether an entry of ErrorEquals is meant for the error.
func (f *stateError) matches(entry string, p Profile) bool {
	switch {
	case f.name == atom.CodeRevertFailed: // what is half undone is no error like others
		return entry == f.name
	case entry == statesAll && profiles[p].allMatchesAll:
		return true
	case f.name == statesRuntime:
		return f.also != "" && f.also == entry
	case entry == statesAll:
		return !f.local || f.name != statesDataLimitExceeded
	case f.bare:
		return entry == statesTaskFailed
	case entry == statesTaskFailed:
		return f.name != statesTimeout && !f.local
	}
	return entry == f.name || f.also != "" && entry == f.also
}

// ends reports whether the error ends the execution, whatever state it arose in: no
// level around has a say, and the history tells of its end alone.
func (f *stateError) ends(p Profile) bool {
	return f.name == statesRuntime && !profiles[p].allMatchesAll
}

// output is what a Catch hands on, {"Error", "Cause"}.
func (f *stateError) output() *jsontext.OrderedMap {
	out := jsontext.OrderedMapOf("Error", f.name)
	if f.bare {
		out = jsontext.OrderedMapOf("Error", nil, "Cause", nil)
	}
	if f.cause != "" {
		out.Set("Cause", f.cause)
	}
	return out
}

// knownErrors are the names beginning with States. that mean something.
var knownErrors = []string{
	statesAll, statesTimeout, statesHeartbeatTimeout, statesTaskFailed, statesPermissions, statesRuntime,
	statesDataLimitExceeded, statesResultPath, statesParameterPath, statesBranchFailed, statesNoChoiceMatched,
	statesIntrinsicFailure, statesQueryEvaluation, statesTolerated, statesItemReader, statesResultWriter, statesReferencePath,
}

// reserved reports whether an error's name belongs to the language though the
// language has no such error.
func reserved(name string) bool {
	if !strings.HasPrefix(name, "States.") || strings.HasPrefix(name, "States.Http.") {
		return false
	}
	return !slices.Contains(knownErrors, name)
}
