package interpreter

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// A startedExecution is an execution that a state has started.
type startedExecution struct {
	ARN     string `json:"arn"`
	Name    string `json:"name"`
	Machine string `json:"machine"` // ARN, or what the state calls it

	input  atom.Value // nil in a note, because the node has it
	flow   string     // the machine's name
	run    string     // its id; "" is the node's own
	parsed bool       // the result has JSON, not texts that contain JSON
}

// asked returns the execution that the Parameters or Arguments of a node's attempt request. The service defines these
// arguments, not the language.
func (w *Interpreter) asked(arguments *data.Value, node string) (*startedExecution, *stateerror.Error) {
	refused := func(cause string) (*startedExecution, *stateerror.Error) {
		return nil, &stateerror.Error{Name: "StepFunctions.ValidationException", Cause: cause}
	}
	var call struct {
		Machine any             `json:"StateMachineArn"`
		Name    *string         `json:"Name"`
		Input   json.RawMessage `json:"Input"`
	}
	if err := json.Unmarshal(arguments.Encoded().JSON(), &call); err != nil {
		return refused("The Parameters or Arguments are not those of StartExecution: " + err.Error())
	}
	machine, ok := call.Machine.(string)
	if !ok || machine == "" {
		return refused("StateMachineArn must be a text")
	}
	x := &startedExecution{Machine: machine, parsed: w.State.Task.Pattern == syntax.PatternSync2}
	if x.input, ok = executionInput(call.Input); !ok {
		return nil, &stateerror.Error{
			Name:  "StepFunctions.InvalidExecutionInputException",
			Cause: "Invalid State Machine Execution Input: it is no JSON",
		}
	}
	var world string
	x.flow, world = syntax.MachineName(machine)
	x.Name = w.Ask.Run.ID + "/" + nodePath(w.Ask.Path, node)
	if n := w.retries(); n > 0 {
		x.Name += "@" + strconv.Itoa(n+1)
	}
	if w.redrives > 0 {
		x.Name += "." + strconv.Itoa(w.redrives+1)
	}
	x.run = nodepath.RunID(x.Name)
	if world != "" {
		x.Name = expression.NamedUUID(x.Name)
	}
	named := call.Name != nil && *call.Name != ""
	if named {
		x.Name = *call.Name
	}
	if named {
		x.run = nodepath.RunID(x.flow + ":" + x.Name)
	}
	if x.ARN = x.run; world != "" {
		x.ARN = world + x.flow + ":" + x.Name
		x.run = RunID(w.attributes().World, x.ARN)
	}
	return x, nil
}

func nodePath(flow, node string) string {
	if flow == "" {
		return node
	}
	return flow + "/" + node
}

// executionInput returns the input of an execution. A text is read as JSON.
func executionInput(given json.RawMessage) (atom.Value, bool) {
	var text *string
	switch {
	case len(given) == 0, string(given) == "null":
		return data.EmptyObject.Encoded(), true
	case json.Unmarshal(given, &text) == nil && text != nil:
		return atom.FromJSON([]byte(*text)), json.Valid([]byte(*text))
	}
	return atom.FromJSON(given), true
}

// start makes a node that starts an execution.
func (w *Interpreter) start(spec *grow.Spec, x *startedExecution) {
	t := w.State.Task
	spec.Kind = grow.Nested
	spec.Child = &grow.Child{
		ID: x.run, Flow: x.flow, Input: x.input, Attributes: w.startedAttributes(x),
		Detached: t.Pattern != syntax.PatternSync && t.Pattern != syntax.PatternSync2,
	}
	switch {
	case t.Pattern == syntax.PatternToken:
		spec.Token, spec.Report = w.token, true
	case !spec.Child.Detached:
		spec.Token, spec.Report, spec.Ends = w.token, true, true
	default:
		spec.Timeout, spec.Heartbeat = 0, 0 // it ends at once
	}
}

// startedAttributes returns the attributes of an execution: those of this one, except the ones that each execution
// has for itself.
func (w *Interpreter) startedAttributes(x *startedExecution) atom.Value {
	return w.handedOn(&Attributes{
		ExecutionID: x.ARN, ExecutionName: x.Name, RoleARN: w.attributes().RoleARN, Region: w.attributes().Region,
		StateMachineID: x.Machine, StateMachineName: x.flow,
	}, "express", "map", "mapRun", "items")
}

// executionTime returns a time in the form of a service.
func executionTime(t time.Time) int64 { return t.UnixMilli() }

// startedAnswer returns the answer of StartExecution.
func (w *Interpreter) startedAnswer(x *startedExecution, at time.Time) atom.Value {
	return atom.MustEncode(map[string]any{
		"ExecutionArn": x.ARN, "StartDate": executionTime(at),
		"SdkHttpMetadata": map[string]any{"HttpStatusCode": 200},
	})
}

// executionEnded continues after the end of an execution, or after its start if the state does not wait for the
// end.
func (w *Interpreter) executionEnded(x *startedExecution) (Step, *stateerror.Error) {
	cause := &w.Ask.Cause
	if w.State.Task.Pattern == "" && cause.Failure == nil {
		return w.TaskEnded(w.startedAnswer(x, w.Ask.Now))
	}
	past, _ := w.Ask.Recall(cause.Name)
	x.parsed = w.State.Task.Pattern == syntax.PatternSync2
	x.input, _ = executionInput(memberOf(past.Input, "Input"))
	if cause.Failure == nil {
		return w.TaskEnded(x.succeeded(cause.Result, past.Started, w.Ask.Now))
	}
	f := x.failed(cause.Failure, past.Started, w.Ask.Now)
	w.attemptFailed(f)
	return Step{}, f
}

func memberOf(v atom.Value, name string) json.RawMessage {
	member, ok := v.Field(name)
	if !ok {
		return nil
	}
	return member.JSON()
}

// described returns the members that success and failure have in common, by the names of DescribeExecution.
func (x *startedExecution) described(status string, begun, now time.Time) map[string]any {
	return map[string]any{
		"ExecutionArn": x.ARN, "Name": x.Name, "StateMachineArn": x.Machine, "Status": status,
		"StartDate": executionTime(begun), "StopDate": executionTime(now),
		"Input": x.shown(x.input), "InputDetails": map[string]any{"Included": true},
	}
}

// shown returns the form of a value in a result: a text that contains JSON, or the value itself.
func (x *startedExecution) shown(v atom.Value) any {
	if x.parsed {
		return v
	}
	return v.String()
}

// succeeded returns the result of a state whose execution succeeded.
func (x *startedExecution) succeeded(output atom.Value, begun, now time.Time) atom.Value {
	if len(output) == 0 {
		output = atom.Null
	}
	all := x.described("SUCCEEDED", begun, now)
	all["Output"], all["OutputDetails"] = x.shown(output), map[string]any{"Included": true}
	all["RedriveCount"], all["RedriveStatus"] = 0, "NOT_REDRIVABLE"
	all["RedriveStatusReason"] = "Execution is SUCCEEDED and cannot be redriven"
	return atom.MustEncode(all)
}

// failed returns the error of a state whose execution failed, could not be started, or exceeded the state's
// timeout.
func (x *startedExecution) failed(failure *atom.Failure, begun, now time.Time) *stateerror.Error {
	refused := func(code, what string) *stateerror.Error {
		return &stateerror.Error{
			Name: "StepFunctions." + code + "Exception",
			Cause: what + ": '" + x.ARN + "' (Service: AWSStepFunctions; Status Code: 400; Error Code: " + code +
				"; Request ID: none; Proxy: null)",
		}
	}
	status := "FAILED"
	switch failure.Code {
	case atom.CodeRunExists:
		return refused("ExecutionAlreadyExists", "Execution Already Exists")
	case atom.CodeNoFlow:
		x.ARN = x.Machine
		return refused("StateMachineDoesNotExist", "State Machine Does Not Exist")
	case atom.CodeTimeout, atom.CodeScheduleToStart, atom.CodeStartToClose, atom.CodeHeartbeatLost:
		return stateerror.OfTask(failure, "")
	case atom.CodeCancelled:
		status = "ABORTED"
	}
	all := x.described(status, begun, now)
	if !failure.Bare && failure.Code != atom.CodeCancelled {
		all["Error"] = failure.Code
	}
	if failure.Message != "" {
		all["Cause"] = nested(failure.Message)
	}
	text := atom.MustEncode(all)
	if len(text) > stateerror.MaxShown { // what is cut off is no JSON
		all["InputDetails"] = map[string]any{"Included": false}
		delete(all, "Input")
		text = atom.MustEncode(all)
	}
	return &stateerror.Error{Name: stateerror.TaskFailed, Cause: text.String()}
}

// left is the beginning of a cause without the descriptions of the executions that passed it on.
const left = "… "

// nested returns the cause of an execution as a description of the execution contains it. Descriptions contain one
// another, and each quotes the ones in it once more: of a cause that is too long, the innermost one remains.
func nested(cause string) string {
	if len(cause) <= clip.Cause {
		return cause
	}
	for {
		var of struct {
			ExecutionArn string `json:"ExecutionArn"` //nolint:tagliatelle // as AWS names it
			Cause        string `json:"Cause"`        //nolint:tagliatelle // as AWS names it
		}
		if err := json.Unmarshal([]byte(cause), &of); err != nil || of.ExecutionArn == "" || of.Cause == "" {
			return left + clip.Ends(strings.TrimPrefix(cause, left), clip.Cause)
		}
		cause = of.Cause
	}
}
