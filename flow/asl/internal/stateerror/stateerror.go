package stateerror

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Names of errors that the language itself raises.
const (
	All               = "States.ALL"
	Timeout           = "States.Timeout"
	HeartbeatTimeout  = "States.HeartbeatTimeout"
	TaskFailed        = "States.TaskFailed"
	statesPermissions = "States.Permissions"
	Runtime           = "States.Runtime"
	DataLimitExceeded = "States.DataLimitExceeded"
	ResultPath        = "States.ResultPathMatchFailure"
	ParameterPath     = "States.ParameterPathFailure"
	BranchFailed      = "States.BranchFailed"
	NoChoiceMatched   = "States.NoChoiceMatched"
	IntrinsicFailure  = "States.IntrinsicFailure"
	QueryEvaluation   = "States.QueryEvaluationError"
	Tolerated         = "States.ExceedToleratedFailureThreshold"
	ItemReader        = "States.ItemReaderFailed"
	ResultWriter      = "States.ResultWriterFailed"
	ReferencePath     = "States.ReferencePathConflict"
)

// A Error is why a state failed, as Retry, Catch and histories show it.
type Error struct {
	Name  string // the error's name
	Also  string // another name that Retry and Catch may know it by; "" for none
	Cause string // "" for none
	Bare  bool   // there is no name to show, only States.ALL and States.TaskFailed match
	Place bool   // the cause is yet to be prefixed with the state it came from
	Local bool   // it arose in processing data, not in a task: States.ALL does not match when it is a broken limit

	// Of a query: which field it is in, and whether its event follows from that of
	// entering the state.
	Location string
	Follows  bool
}

// Runtimef is what goes wrong when a state's data does not fit its
// definition.
func Runtimef(format string, args ...any) *Error {
	return Localf(Runtime, format, args...)
}

// Localf returns an error that arose in processing data.
func Localf(name, format string, args ...any) *Error {
	return &Error{Name: name, Cause: fmt.Sprintf(format, args...), Place: true, Local: true}
}

// TooLarge says that what gave too large a value: a state by its name, a
// Lambda function by its ARN, a service by its name.
func TooLarge(what string) *Error {
	return &Error{
		Name:  DataLimitExceeded,
		Cause: "The state/task '" + what + "' returned a result with a size exceeding the maximum number of bytes service limit.",
		Local: true,
	}
}

// Interruption ends an evaluation whose result the caller does not need any more.
var Interruption = Runtimef("the evaluation was interrupted")

// OfTask returns the error that a failed task, or a failed child flow, is to
// the language.
func OfTask(failure *atom.Failure, what string) *Error {
	if failure == nil {
		return &Error{Bare: true}
	}
	switch failure.Code {
	case atom.CodeTimeout, atom.CodeScheduleToStart, atom.CodeStartToClose:
		return &Error{Name: Timeout}
	case atom.CodeHeartbeatLost:
		return &Error{Name: Timeout, Also: HeartbeatTimeout}
	case atom.CodeTooLarge:
		f := TooLarge(what)
		f.Local = false
		return f
	}
	return &Error{Name: ClipName(failure.Code), Cause: failure.Message, Bare: failure.Bare}
}

// ClipName bounds the name of an error as AWS does.
func ClipName(name string) string {
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

// Failure returns the stored form.
func (f *Error) Failure() *atom.Failure {
	code := f.Name
	if f.Bare {
		code = TaskFailed
	}
	return &atom.Failure{Code: code, Message: f.Cause, Bare: f.Bare}
}

// Matches reports whether one of the entries of ErrorEquals is meant for the error. In
// some editions of the language States.ALL is for all errors, without exceptions.
func (f *Error) Matches(entries []string, all bool) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return f.matchesOne(entry, all) })
}

func (f *Error) matchesOne(entry string, all bool) bool {
	switch {
	case f.Name == atom.CodeRevertFailed: // what is half undone is no error like others
		return entry == f.Name
	case entry == All && all:
		return true
	case f.Name == Runtime:
		return f.Also != "" && f.Also == entry
	case entry == All:
		return !f.Local || f.Name != DataLimitExceeded
	case f.Bare:
		return entry == TaskFailed
	case entry == TaskFailed:
		return f.Name != Timeout && !f.Local
	}
	return entry == f.Name || f.Also != "" && entry == f.Also
}

// Output is what a Catch hands on, {"Error", "Cause"}.
func (f *Error) Output() *jsontext.OrderedMap {
	out := jsontext.OrderedMapOf("Error", f.Name)
	if f.Bare {
		out = jsontext.OrderedMapOf("Error", nil, "Cause", nil)
	}
	if f.Cause != "" {
		out.Set("Cause", f.Cause)
	}
	return out
}

// Known are the names beginning with States. that mean something.
var Known = []string{
	All, Timeout, HeartbeatTimeout, TaskFailed, statesPermissions, Runtime,
	DataLimitExceeded, ResultPath, ParameterPath, BranchFailed, NoChoiceMatched,
	IntrinsicFailure, QueryEvaluation, Tolerated, ItemReader, ResultWriter, ReferencePath,
}

// Reserved reports whether an error's name belongs to the language though the
// language has no such error.
func Reserved(name string) bool {
	if !strings.HasPrefix(name, "States.") || strings.HasPrefix(name, "States.Http.") {
		return false
	}
	return !slices.Contains(Known, name)
}

const maxErrorName = 256 // characters of the name of an error

// MaxShown is how many bytes of a value, or of an error of an expression, are told in a cause.
const MaxShown = 32 << 10
