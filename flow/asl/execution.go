package asl

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// Executions of other machines, which states:startExecution starts: each is a run of
// its own, begun in the commit that begins its state. The program that runs the machine may
// have a task do it instead.

// StartExecution is the service, without a pattern, that starts executions.
const StartExecution = "arn:aws:states:::states:startExecution"

// A startedExecution is one that a state has started.
type startedExecution struct {
	ARN     string `json:"arn"`
	Name    string `json:"name"`
	Machine string `json:"machine"` // ARN, or what the state calls it

	input  atom.Value // nil in a levelState: the node has it
	flow   string     // the machine's name
	run    string     // its id; "" is the node's own
	parsed bool       // it is told as JSON, not as texts that hold JSON
}

// starts reports whether the task starts an execution.
func (t *task) starts() bool { return t.uri == StartExecution+t.pattern }

// machineName returns the name in a state machine's ARN, and the begin of the ARNs of
// its executions; what is no ARN is a name.
func machineName(machine string) (name, world string) {
	if parts := strings.Split(machine, ":"); len(parts) >= 7 && parts[0] == "arn" && parts[2] == "states" && parts[5] == "stateMachine" {
		return parts[6], strings.Join(parts[:5], ":") + ":execution:"
	}
	return machine, ""
}

// asked returns the execution that the Parameters or Arguments ask for, for the
// attempt of a node. What they are is told by the service, not the language.
func (w *interpreter) asked(arguments *jsonValue, node string) (*startedExecution, *stateError) {
	refused := func(cause string) (*startedExecution, *stateError) {
		return nil, &stateError{name: "StepFunctions.ValidationException", cause: cause}
	}
	var call struct {
		Machine any             `json:"StateMachineArn"`
		Name    *string         `json:"Name"`
		Input   json.RawMessage `json:"Input"`
	}
	if err := json.Unmarshal(arguments.encoded().JSON(), &call); err != nil {
		return refused("The Parameters or Arguments are not those of StartExecution: " + err.Error())
	}
	machine, ok := call.Machine.(string)
	if !ok || machine == "" {
		return refused("StateMachineArn must be a text")
	}
	x := &startedExecution{Machine: machine, parsed: w.state.task.pattern == patternSync2}
	if x.input, ok = executionInput(call.Input); !ok {
		return nil, &stateError{name: "StepFunctions.InvalidExecutionInputException", cause: "Invalid State Machine Execution Input: it is no JSON"}
	}
	var world string
	x.flow, world = machineName(machine)
	x.Name = w.ask.Run.ID + "/" + nodePath(w.ask.Path, node)
	if n := w.retries(); n > 0 {
		x.Name += "@" + strconv.Itoa(n+1)
	}
	x.run = x.Name
	if world != "" {
		x.Name = namedUUID(x.Name)
	}
	if call.Name != nil && *call.Name != "" {
		x.Name = *call.Name
		x.run = x.flow + ":" + x.Name
	}
	if x.ARN = x.run; world != "" {
		x.ARN = world + x.flow + ":" + x.Name
	}
	return x, nil
}

func nodePath(flow, node string) string {
	if flow == "" {
		return node
	}
	return flow + "/" + node
}

// executionInput returns the input of an execution: a text holds it as JSON.
func executionInput(given json.RawMessage) (atom.Value, bool) {
	var text *string
	switch {
	case len(given) == 0, string(given) == "null":
		return emptyObject.encoded(), true
	case json.Unmarshal(given, &text) == nil && text != nil:
		return atom.FromJSON([]byte(*text)), json.Valid([]byte(*text))
	}
	return atom.FromJSON(given), true
}

// start makes a node begin an execution.
func (w *interpreter) start(spec *flow.Spec, x *startedExecution) {
	t := w.state.task
	spec.Kind = flow.Nested
	spec.Child = &flow.Child{
		ID: x.run, Flow: x.flow, Input: x.input, Attributes: w.startedAttributes(x),
		Detached: t.pattern != patternSync && t.pattern != patternSync2,
	}
	switch {
	case t.pattern == patternToken:
		spec.Token, spec.Report = w.token, true
	case !spec.Child.Detached:
		spec.Token, spec.Report, spec.Ends = w.token, true, true
	default:
		spec.Timeout, spec.Heartbeat = 0, 0 // it ends at once
	}
}

// startedAttributes returns what an execution is to know: what this one knows, but
// for what is each one's own.
func (w *interpreter) startedAttributes(x *startedExecution) atom.Value {
	all := map[string]json.RawMessage{}
	if given := w.ask.Run.Attributes; len(given) > 0 {
		if err := given.Decode(&all); err != nil {
			all = map[string]json.RawMessage{}
		}
	}
	own := Attributes{
		ExecutionID: x.ARN, ExecutionName: x.Name, RoleARN: w.attributes().RoleARN, Region: w.attributes().Region,
		StateMachineID: x.Machine, StateMachineName: x.flow,
	}
	var members map[string]json.RawMessage
	if err := atom.MustEncode(own).Decode(&members); err == nil {
		for _, name := range []string{"express", "map", "mapRun"} {
			delete(all, name)
		}
		maps.Copy(all, members)
	}
	return atom.MustEncode(all)
}

// executionTime is how a service writes a time.
func executionTime(t time.Time) int64 { return t.UnixMilli() }

// startedAnswer is what StartExecution answers.
func (w *interpreter) startedAnswer(x *startedExecution, at time.Time) atom.Value {
	return atom.MustEncode(map[string]any{
		"ExecutionArn": x.ARN, "StartDate": executionTime(at),
		"SdkHttpMetadata": map[string]any{"HttpStatusCode": 200},
	})
}

// executionEnded goes on with the end of an execution that was waited for, or with the
// begin of one that was not.
func (w *interpreter) executionEnded(x *startedExecution) (step, *stateError) {
	cause := &w.ask.Cause
	if w.state.task.pattern == "" && cause.Failure == nil {
		return w.taskEnded(w.startedAnswer(x, w.ask.Now))
	}
	past, _ := w.ask.Recall(cause.Name)
	x.parsed = w.state.task.pattern == patternSync2
	x.input, _ = executionInput(memberOf(past.Input, "Input"))
	if cause.Failure == nil {
		return w.taskEnded(x.succeeded(cause.Result, past.Started, w.ask.Now))
	}
	f := x.failed(cause.Failure, past.Started, w.ask.Now)
	w.attemptFailed(f)
	return step{}, f
}

func memberOf(v atom.Value, name string) json.RawMessage {
	member, ok := v.Field(name)
	if !ok {
		return nil
	}
	return member.JSON()
}

// described is what both ends of an execution tell, by the names of
// DescribeExecution.
func (x *startedExecution) described(status string, begun, now time.Time) map[string]any {
	return map[string]any{
		"ExecutionArn": x.ARN, "Name": x.Name, "StateMachineArn": x.Machine, "Status": status,
		"StartDate": executionTime(begun), "StopDate": executionTime(now),
		"Input": x.shown(x.input), "InputDetails": map[string]any{"Included": true},
	}
}

// shown is how a value is told: as a text that holds JSON, or as it is.
func (x *startedExecution) shown(v atom.Value) any {
	if x.parsed {
		return v
	}
	return v.String()
}

// succeeded is the result of a state whose execution has succeeded.
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

// failed is the error of a state whose execution did not succeed, or could not be
// started, or was waited for long enough.
func (x *startedExecution) failed(failure *atom.Failure, begun, now time.Time) *stateError {
	refused := func(code, what string) *stateError {
		return &stateError{
			name:  "StepFunctions." + code + "Exception",
			cause: what + ": '" + x.ARN + "' (Service: AWSStepFunctions; Status Code: 400; Error Code: " + code + "; Request ID: none; Proxy: null)",
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
		return taskError(failure, "")
	case atom.CodeCancelled:
		status = "ABORTED"
	}
	all := x.described(status, begun, now)
	if !failure.Bare && failure.Code != atom.CodeCancelled {
		all["Error"] = failure.Code
	}
	if failure.Message != "" {
		all["Cause"] = failure.Message
	}
	return &stateError{name: statesTaskFailed, cause: atom.MustEncode(all).String()}
}
