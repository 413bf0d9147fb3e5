package stateerror

import (
	"fmt"
	"maps"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// The codes of errors. Error handlers see them, and runs fail with them.
const (
	CodeExpression = "SM4C.Expression" // an expression failed, or returned more than one value
	// CodeType: the input of a foreach is not an array, or an attribute of an event is not a string.
	CodeType     = "SM4C.Type"
	CodeFunction = "SM4C.Function" // a function failed
	CodeSubflow  = "SM4C.Subflow"  // a subflow failed, or is unknown
	CodeStuck    = "SM4C.Stuck"    // no transition of a state can ever fire
	CodeLivelock = "SM4C.Livelock" // the machine repeats itself, taking transitions without a wait
	CodeTimeout  = "SM4C.Timeout"  // the run exceeded its timeout; its outcome is timed out, not failed
)

// maxMessage bounds the size in bytes of an expression's error message.
const maxMessage = 32 << 10

// An Error is the reason why an action or a machine failed.
type Error struct {
	Code    string
	typ     string // "": the code is used
	Message string
	Action  string         // the first action that failed with this error
	members map[string]any // further members that the function or subflow reported
}

// New returns an error with a code.
func New(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Expression returns the error of an expression that failed. It bounds the message, which values can be part of.
func Expression(format string, args ...any) *Error {
	f := New(CodeExpression, format, args...)
	if len(f.Message) > maxMessage {
		f.Message = strings.ToValidUTF8(f.Message[:maxMessage], "") + "…"
	}
	return f
}

// Object returns the error as error handlers see it. The capitalized names are those of .NET, which definitions for
// the original engine use.
func (f *Error) Object(attempt int) map[string]any {
	o := map[string]any{}
	maps.Copy(o, f.members)
	typ := f.typ
	if typ == "" {
		typ = f.Code
	}
	maps.Copy(o, map[string]any{
		"code": f.Code, "type": typ, "message": f.Message, "attempt": attempt, "Message": f.Message, "ClassName": typ,
	})
	if f.Action != "" {
		o["action"] = f.Action
	}
	return o
}

// Failure returns the stored form.
func (f *Error) Failure() *atom.Failure {
	failure := &atom.Failure{Code: f.Code, Message: f.Message}
	details := map[string]any{}
	maps.Copy(details, f.members)
	if f.typ != "" {
		details["type"] = f.typ
	}
	if f.Action != "" {
		details["action"] = f.Action
	}
	if len(details) > 0 {
		if text, err := jq.Encode(details, atom.MaxFailureDetails-1); err == nil {
			failure.Details = atom.FromJSON(text)
		}
	}
	return failure
}

// Stored restores an error that another flow of the run stored.
func Stored(failure *atom.Failure) *Error {
	f := &Error{Code: failure.Code, Message: failure.Message, members: detailsOf(failure)}
	if !strings.HasPrefix(f.Code, "SM4C.") { // an error of Ebb's core
		f.Code, f.typ = CodeFunction, failure.Code
	}
	for name, into := range map[string]*string{"type": &f.typ, "action": &f.Action} {
		if text, ok := f.members[name].(string); ok {
			*into = text
		}
		delete(f.members, name)
	}
	return f
}

// Function returns the error of a failed task.
func Function(failure *atom.Failure) *Error {
	f := &Error{Code: CodeFunction, typ: failure.Code, Message: failure.Message, members: detailsOf(failure)}
	if f.typ == "" || failure.Bare {
		f.typ = atom.CodeError
	}
	return f
}

// Subflow returns the error of a subflow whose run failed: cause is the code of the run's failure, and message is
// its message.
func Subflow(name string, failure *atom.Failure) *Error {
	if failure.Code == atom.CodeNoFlow {
		return New(CodeSubflow, "there is no subflow %s", jsontext.Quote(name))
	}
	child := Stored(failure)
	return &Error{Code: CodeSubflow, Message: child.Message, members: map[string]any{"cause": child.Code}}
}

// detailsOf returns further details of a failure.
func detailsOf(failure *atom.Failure) map[string]any {
	if len(failure.Details) == 0 {
		return nil
	}
	tree, err := jq.Decode(failure.Details.JSON())
	if err != nil {
		return nil
	}
	object, _ := tree.(map[string]any)
	return object
}
