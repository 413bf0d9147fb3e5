package swf

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// LambdaTask is the task that calls lambda functions. Its input is an object with the members FunctionName and Payload;
// its result has the member Payload. The engine calls it at least once for each node, under the same idempotency key.
const LambdaTask = "arn:aws:states:::lambda:invoke"

const defaultLambdaTimeout = "900"

func (b *batchTurn) scheduleLambda(d *decision.Decision, refused string) {
	id, function := d.Text("id"), d.Text("name")
	_, open := b.memory.Lambdas[shorten(id)]
	switch {
	case refused != "":
	case open:
		refused = decision.LambdaIDInUse
	case len(b.memory.Lambdas) >= b.settings.OpenLambdas:
		refused = decision.LambdasLimit
	}
	var a history.Attributes
	a.Text("id", id).Text("name", function)
	if refused != "" {
		b.fail(d, &a, refused)
		return
	}
	timeout := cmp.Or(d.Text("startToCloseTimeout"), defaultLambdaTimeout)
	event := b.emit(d.Success, b.completed, NodeName(id, 0), a.Given("control", d.Given("control")).
		Given("input", d.Given("input")).Text("startToCloseTimeout", timeout).Decided(b.completed))
	if b.closed {
		return
	}
	b.memory.Lambdas[shorten(id)] = event
	b.later = append(b.later, func() { b.startLambda(id, function, timeout, d.Given("input"), event) })
}

// startLambda lets the engine call the function. Without a role, the call cannot start.
func (b *batchTurn) startLambda(id, function, timeout string, input *string, event int64) {
	var a history.Attributes
	a.Ref("scheduledEventId", event)
	name := NodeName(id, event)
	if b.start.LambdaRole == "" {
		delete(b.memory.Lambdas, shorten(id))
		b.emit(history.StartLambdaFailed, event, name, a.Text("cause", "ASSUME_ROLE_FAILED").
			Text("message", "No IAM role is attached to the current workflow execution."))
		return
	}
	n := note{
		Kind: lambdaNode, Event: event, ID: id, Started: b.emit(history.LambdaStarted, event, name, &a),
		CloseDue: dueAfter(b.ask.Now, limit(timeout)),
	}
	call := map[string]any{"FunctionName": function}
	if input != nil {
		call["Payload"] = payload(*input)
	}
	b.add(grow.Spec{
		Name: name, Kind: grow.Work, Task: LambdaTask, Input: atom.MustEncode(call), Note: n.value(), Timeout: limit(timeout),
	})
}

// payload returns the input of a function: JSON as it is, any other text as a string.
func payload(input string) any {
	if json.Valid([]byte(input)) {
		return json.RawMessage(input)
	}
	return input
}

// maxResult is the maximum number of characters of the result of a function.
const maxResult = 32768

// lambda answers how a call of a function ended.
func (t *turn) lambda(n *note) {
	c := &t.ask.Cause
	delete(t.memory.Lambdas, shorten(n.ID))
	var a history.Attributes
	a.Ref("scheduledEventId", n.Event).Ref("startedEventId", n.Started)
	switch {
	case c.Kind == grow.Ended:
		result := c.Result.String()
		if returned, ok := c.Result.Field("Payload"); ok {
			result = returned.String()
		}
		if Length(result) > maxResult {
			t.emit(history.LambdaFailed, n.Event, c.Name, a.Text("reason", "ResultTooLarge").
				Text("details", "the result of the function is longer than 32768 characters"))
			return
		}
		t.emit(history.LambdaCompleted, n.Event, c.Name, a.Text("result", result))
	case c.Failure.Code == atom.CodeTimeout:
		t.emit(history.LambdaTimedOut, n.Event, c.Name, a.Text("timeoutType", "START_TO_CLOSE"))
	default:
		reason, details := lambdaError(c.Failure)
		t.emit(history.LambdaFailed, n.Event, c.Name, a.Text("reason", reason).Text("details", details))
	}
}

// lambdaError returns the reason and the details of a failed call. The details are the error of the function as JSON.
func lambdaError(f *atom.Failure) (reason, details string) {
	reason = "UnhandledError"
	if code, ok := strings.CutPrefix(f.Code, "Lambda."); ok && strings.Contains(code, "NotFound") {
		reason = code
	}
	if details = f.Message; !strings.HasPrefix(details, "{") || !json.Valid([]byte(details)) {
		details = atom.MustEncode(map[string]string{"errorMessage": f.Message, "errorType": f.Code}).String()
	}
	return reason, cut(details, maxResult)
}

// cut returns the first n characters of a text.
func cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
