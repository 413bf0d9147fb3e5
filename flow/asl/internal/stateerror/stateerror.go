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

// An Error is the reason why a state failed, as Retry, Catch and histories show it.
type Error struct {
	Name  string // name of the error
	Also  string // another name that Retry and Catch match; "" for none
	Cause string // text for people; "" for none
	Bare  bool   // the error has no name: only States.ALL and States.TaskFailed match
	Place bool   // the cause must still be prefixed with the state's name
	Local bool   // raised by data processing, not by a task: States.ALL does not match a broken limit of this kind

	// Location is, for an error of a query, the field of the query. The event of such an error may follow from the
	// event for entering the state.
	Location string
	Follows  bool
}

// Runtimef returns the error for a state's data that does not fit its definition.
func Runtimef(format string, args ...any) *Error {
	return Localf(Runtime, format, args...)
}

// Localf returns an error raised by data processing.
func Localf(name, format string, args ...any) *Error {
	return &Error{Name: name, Cause: fmt.Sprintf(format, args...), Place: true, Local: true}
}

// TooLarge returns the error that the output of a state, a Lambda function or a service is too large.
func TooLarge(what string) *Error {
	return &Error{
		Name: DataLimitExceeded,
		Cause: "The state/task '" + what +
			"' returned a result with a size exceeding the maximum number of bytes service limit.",
		Local: true,
	}
}

// Interruption ends an evaluation whose result the caller no longer needs.
var Interruption = Runtimef("the evaluation was interrupted")

// OfTask returns the error for a failed task or a failed child flow.
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

// ClipName shortens the name of an error to AWS's limit.
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

// Matches reports whether an entry of ErrorEquals matches the error. If all is true, States.ALL matches every
// error, as in some editions of the language.
func (f *Error) Matches(entries []string, all bool) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return f.matchesOne(entry, all) })
}

func (f *Error) matchesOne(entry string, all bool) bool {
	switch {
	case f.Name == atom.CodeRevertFailed: // work that is partly undone needs special handling
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

// Output returns the object that a Catch passes on, {"Error", "Cause"}.
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

// Known are the names with the prefix States. that have a meaning.
var Known = []string{
	All, Timeout, HeartbeatTimeout, TaskFailed, statesPermissions, Runtime,
	DataLimitExceeded, ResultPath, ParameterPath, BranchFailed, NoChoiceMatched,
	IntrinsicFailure, QueryEvaluation, Tolerated, ItemReader, ResultWriter, ReferencePath,
}

// Reserved reports whether an error's name has the prefix of the language although the language has no such error.
func Reserved(name string) bool {
	if !strings.HasPrefix(name, "States.") || strings.HasPrefix(name, "States.Http.") {
		return false
	}
	return !slices.Contains(Known, name)
}

//limit:asl error name in a Fail state and in the history | {} characters | cut off
const maxErrorName = 256

// MaxShown is the maximum number of bytes of a value, or of an expression's error, in a cause.
//
//limit:asl cause in a Fail state and in the history; value or error of an expression, quoted in a cause | {B} |
//limit:and cut off
const MaxShown = 32 << 10
