package atom

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/notcalled"
	"github.com/ebbflow/ebb/internal/redact"
)

// Codes of failures that Ebb itself gives, see [Failure.Code].
const (
	CodeError           = "Error"               // an error without a code of its own
	CodePanic           = "Panic"               // user code panicked; Stack has the place
	CodeTimeout         = "Timeout"             // the atom's own time limit passed
	CodeReverted        = "Ebb.Reverted"        // an operator had the run undone
	CodeCancelled       = "Cancelled"           // the atom was cancelled while it ran
	CodeNotFound        = "NotFound"            // a required symbol had no value
	CodeNoTask          = "Ebb.NoTask"          // no task of that name is registered
	CodeNoMock          = "Ebb.NoMock"          // a test's mocks have no answer for the call; no flow handles this failure
	CodeTooLarge        = "Ebb.ValueTooLarge"   // the result is larger than a value may be
	CodeRevertFailed    = "Ebb.RevertFailed"    // a revert failed
	CodeScheduleToStart = "Ebb.ScheduleToStart" // no worker took the work in time
	CodeStartToClose    = "Ebb.StartToClose"    // the worker that took the work did not finish it in time
	CodeHeartbeatLost   = "Ebb.HeartbeatLost"   // a deferred atom's heartbeat did not come
	CodeBadResult       = "Ebb.BadResult"       // the attempt ended with a result that does not fit the task, or the store
	CodeRunExists       = "Ebb.RunExists"       // the run that was to be started exists already
	CodeKeyTaken        = "Ebb.KeyTaken"        // an open run holds the key of the run that was to be started
	CodeUndelivered     = "Ebb.Undelivered"     // no run received the message
	CodeNoFlow          = "Ebb.NoFlow"          // the flow of the run that was to be started is not known
	CodeNoStart         = "Ebb.NoStart"         // the run cannot be created
	CodeLost            = "Ebb.Lost"            // too many processes or workers died during the run or the attempt
	CodeLanguage        = "Ebb.Language"        // a growing flow's language gave an impossible answer
	CodeRefused         = "Ebb.Refused"         // the run did not allow the command
	CodeNeedsPerson     = "Ebb.NeedsPerson"     // not a failure: a growing flow waits for the decision of a person
	CodeLimit           = "Ebb.LimitExceeded"   // the run has reached one of the limits that bound its growth
)

// A Failure is an error as Ebb stores it. The Go type of the error is lost. The engine
// decides by Code alone, so a resumed run decides as the original one did.
//
// An atom whose failure is Untaken has done nothing and is not reverted: no worker took its work, no task is
// registered, an argument had no value, or an argument could not be decoded.
type Failure struct {
	Atom    string `json:"atom,omitempty"`    // path of the atom, or of the state of a machine, that failed
	Code    string `json:"code"`              // kind of failure, by which programs and flows decide
	Message string `json:"message,omitempty"` // what happened, for people
	Stack   string `json:"stack,omitempty"`   // where user code panicked
	Attempt int    `json:"attempt,omitempty"` // which attempt failed, from 1
	Bare    bool   `json:"bare,omitempty"`    // the task gave no code or message at all
	Final   bool   `json:"final,omitempty"`   // the task asked not to be retried by its own policies
	Untaken bool   `json:"untaken,omitempty"` // Atom was not called, see below
	Details Value  `json:"details,omitempty"` // the task's further data, at most [MaxFailureDetails]; may be nil
}

// EndsRun reports whether a run of a growing flow that fails with f was ended by the engine. No Retry or Catch of the
// flow sees such a failure: a flow must not handle what its test lacks, or what an operator's limit forbids.
func (f *Failure) EndsRun() bool { return f != nil && (f.Code == CodeNoMock || f.Code == CodeLimit) }

// MaxFailureDetails is how many bytes the details of a failure may have. Larger details
// are left out.
//
//limit:values details of a failure (`atom.MaxFailureDetails`) | {B} | dropped
const MaxFailureDetails = 160 << 10

// Ebb cuts longer texts off, see [Failure.Bounded].
const (
	//limit:values code of a failure (`atom.MaxFailureCode`) | {B} | cut off
	MaxFailureCode = 1 << 10 // bytes of the code of a failure
	//limit:values message, stack or path of a failure (`atom.MaxFailureText`) | {B} | cut off
	MaxFailureText = 32 << 10 // bytes of the message of a failure, of its stack, and of the path of its atom
)

// Bounded returns the failure if it is within the limits, or a copy with its texts cut
// off and without details that are too large. Failures are stored in this form, as each is
// stored in several places. A language may have smaller limits.
func (f *Failure) Bounded() *Failure {
	if f == nil || len(f.Atom) <= MaxFailureText && len(f.Code) <= MaxFailureCode && len(f.Message) <= MaxFailureText &&
		len(f.Stack) <= MaxFailureText && len(f.Details) <= MaxFailureDetails {
		return f
	}
	c := *f
	c.Atom, c.Code = clip.Text(f.Atom, MaxFailureText), clip.Text(f.Code, MaxFailureCode)
	c.Message, c.Stack = clip.Text(f.Message, MaxFailureText), clip.Text(f.Stack, MaxFailureText)
	if len(f.Details) > MaxFailureDetails {
		c.Details = nil
	}
	return &c
}

// Error names the atom and the reason: "boot: Error: no valid host".
func (f *Failure) Error() string {
	var b strings.Builder
	for i, part := range []string{f.Atom, f.Code, f.Message} {
		if part == "" {
			continue
		}
		if i > 0 && b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	return b.String()
}

// ErrorCode returns Code, so that a Failure passed on as an error keeps it.
func (f *Failure) ErrorCode() string { return f.Code }

// ErrorDetails returns Details, so that a Failure passed on as an error keeps
// them.
func (f *Failure) ErrorDetails() Value { return f.Details }

// Errorf returns an error with a code that survives the process: retries,
// catches and conductors decide by it.
func Errorf(code, format string, args ...any) error {
	return &codedError{code: code, err: fmt.Errorf(format, args...)}
}

// A codedError is an error with the code of a failure.
type codedError struct {
	code string
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// ErrorCode returns the code, for [NewFailure].
func (e *codedError) ErrorCode() string { return e.code }

// NewFailure returns the stored form of err, with which the atom at path failed in the given attempt.
//
// The code comes from the outermost error in err's chain that has a method ErrorCode() string. Without such an error,
// it is [CodeError], also for the end of a context: only the engine knows whether that was the context of the attempt.
// The details come from the outermost error that has a method ErrorDetails() Value.
//
// A Failure that is passed on as it is keeps its message and stack. A wrapped Failure adds its text to that of the
// errors around it.
//
// Secrets in the URLs, data source names and headers that the message and the stack hold are masked.
func NewFailure(path string, attempt int, err error) *Failure {
	f := &Failure{Atom: path, Code: CodeError, Message: err.Error(), Attempt: attempt, Untaken: notcalled.Is(err)}
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		f.Code = coded.ErrorCode()
		f.take(coded, err)
	}
	var detailed interface{ ErrorDetails() Value }
	if errors.As(err, &detailed) {
		if d := detailed.ErrorDetails(); len(d) <= MaxFailureDetails {
			f.Details = d
		}
	}
	if f.Code == "" && !f.Bare {
		f.Code = CodeError
	}
	f.Message, f.Stack = redact.Text(f.Message), redact.Text(f.Stack)
	return f
}

// take adds what those errors that give the code know beside it.
func (f *Failure) take(coded, whole any) {
	switch coded := coded.(type) {
	case *PanicError:
		f.Stack = coded.Stack
	case *Failure:
		f.Stack = coded.Stack
		if whole == any(coded) { // as it is, not wrapped
			f.Message, f.Bare = coded.Message, coded.Bare
			f.Final = coded.Final
		}
	}
}

// A PanicError is the error into which Ebb turns a panic in user code. Its fields are the Value passed to panic, and
// the Stack of the goroutine that panicked. Its code is [CodePanic].
type PanicError = guard.PanicError
