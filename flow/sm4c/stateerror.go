package sm4c

import (
	"fmt"
	"maps"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jq"
)

// The codes of errors, as error handlers see them and runs end with them.
const (
	CodeExpression = "SM4C.Expression" // an expression failed, or gave more than one value
	CodeType       = "SM4C.Type"       // the input of a foreach is no array, an attribute of an event no string
	CodeFunction   = "SM4C.Function"   // a function failed
	CodeSubflow    = "SM4C.Subflow"    // a subflow failed, or is not known
	CodeStuck      = "SM4C.Stuck"      // no transition of a state can ever fire
	CodeLivelock   = "SM4C.Livelock"   // transitions follow each other without a wait, and the machine repeats itself
	CodeTimeout    = "SM4C.Timeout"    // the run took longer than its timeout; it has timed out, and not failed
)

// maxMessage is how many bytes an expression can say about its failure.
const maxMessage = 32 << 10

// A stateError is why an action, or a machine, failed.
type stateError struct {
	code    string
	typ     string // "": the code
	message string
	action  string         // the first action that failed with it
	members map[string]any // what else the function or subflow said
}

func newError(code, format string, args ...any) *stateError {
	return &stateError{code: code, message: fmt.Sprintf(format, args...)}
}

func expressionError(format string, args ...any) *stateError {
	f := newError(CodeExpression, format, args...)
	if len(f.message) > maxMessage {
		f.message = strings.ToValidUTF8(f.message[:maxMessage], "") + "…"
	}
	return f
}

// object is the error as error handlers see it. The names in capitals are those
// of .NET, which definitions for the original engine use.
func (f *stateError) object(attempt int) map[string]any {
	o := map[string]any{}
	maps.Copy(o, f.members)
	typ := f.typ
	if typ == "" {
		typ = f.code
	}
	maps.Copy(o, map[string]any{
		"code": f.code, "type": typ, "message": f.message, "attempt": attempt, "Message": f.message, "ClassName": typ,
	})
	if f.action != "" {
		o["action"] = f.action
	}
	return o
}

// failure returns the stored form.
func (f *stateError) failure() *atom.Failure {
	failure := &atom.Failure{Code: f.code, Message: f.message}
	details := map[string]any{}
	maps.Copy(details, f.members)
	if f.typ != "" {
		details["type"] = f.typ
	}
	if f.action != "" {
		details["action"] = f.action
	}
	if len(details) > 0 {
		if text, err := jq.Encode(details, atom.MaxFailureDetails-1); err == nil {
			failure.Details = atom.FromJSON(text)
		}
	}
	return failure
}

// storedError returns an error from the form in which another flow of the run
// stored it.
func storedError(failure *atom.Failure) *stateError {
	f := &stateError{code: failure.Code, message: failure.Message, members: detailsOf(failure)}
	if !strings.HasPrefix(f.code, "SM4C.") { // the core's own
		f.code, f.typ = CodeFunction, failure.Code
	}
	for name, into := range map[string]*string{"type": &f.typ, "action": &f.action} {
		if text, ok := f.members[name].(string); ok {
			*into = text
		}
		delete(f.members, name)
	}
	return f
}

// functionError returns the error that a failed task is.
func functionError(failure *atom.Failure) *stateError {
	f := &stateError{code: CodeFunction, typ: failure.Code, message: failure.Message, members: detailsOf(failure)}
	if f.typ == "" || failure.Bare {
		f.typ = atom.CodeError
	}
	return f
}

// subflowError returns the error that the failed run of a subflow is.
func subflowError(name string, failure *atom.Failure) *stateError {
	f := newError(CodeSubflow, "the subflow %s failed: %s", quote(name), failure.Message)
	if failure.Code == atom.CodeNoFlow {
		return newError(CodeSubflow, "there is no subflow %s", quote(name))
	}
	f.members = map[string]any{"cause": storedError(failure).object(1)}
	return f
}

// detailsOf returns what else is known of a failure.
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
