package asl

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// The history of a run in the words of AWS: types, details and the event that
// each follows from. Values are JSON; whoever shows them as AWS does turns them
// into JSON texts.

// record writes an event. What it follows from is the event before it in its
// level.
func (w *walk) record(e flow.Event) {
	e.Prev = w.last
	w.growth.Events = append(w.growth.Events, e)
	w.last = w.ask.Event + int64(len(w.growth.Events)) - 1
}

// event writes an event about the visited state.
func (w *walk) event(kind string, details atom.Value) {
	w.record(flow.Event{Type: kind, Name: w.state.name, Details: details})
}

func (w *walk) namedEvent(kind, name string) { w.record(flow.Event{Type: kind, Name: name}) }

func (w *walk) iterationEvent(kind, name string, index int) {
	var details object
	details.integer("index", int64(index))
	details.text("name", name)
	w.record(flow.Event{Type: kind, Name: name, Details: details.value()})
}

// started begins the history of a run. The first state entered follows from
// nothing, as on AWS.
func (w *walk) started(input *datum) {
	var details object
	if role := w.attributes().RoleARN; role != "" {
		details.text("roleArn", role)
	}
	w.record(flow.Event{Type: "ExecutionStarted", Details: details.value(), Key: "input", Body: input.encoded()})
	w.last = 0
}

var enteredTypes, exitedTypes = func() (entered, exited [len(kindNames)]string) {
	for i, name := range kindNames {
		entered[i], exited[i] = name+"StateEntered", name+"StateExited"
	}
	return entered, exited
}()

// enter begins the visit of a state.
func (w *walk) enter(s *state, input *datum) {
	w.state, w.input, w.enteredAt = s, input, w.ask.Now
	w.tries, w.attempted, w.ctx = nil, false, nil
	w.record(flow.Event{Type: enteredTypes[s.kind], Name: s.name, Key: "input", Body: input.encoded()})
	w.entered = w.last
}

// exit ends it.
func (w *walk) exit(out step) {
	var details object
	details.data("assignedVariables", out.assigned)
	w.record(flow.Event{Type: exitedTypes[w.state.kind], Name: w.state.name, Details: details.value(), Key: "output", Body: out.output.encoded()})
	w.set(out.assigned)
}

// succeed ends the level well.
func (w *walk) succeed(output *datum) {
	w.growth.End = &flow.End{Value: output.encoded()}
	if w.ask.Index < 0 {
		w.record(flow.Event{Type: "ExecutionSucceeded", Key: "output", Body: output.encoded()})
		return
	}
	if owner := w.owner(); owner != nil && owner.kind == mapState {
		w.iterationEvent("MapIterationSucceeded", owner.name, w.ask.Index)
	}
	w.growth.End.Note = w.endNote()
}

// fail ends the level with a fault.
func (w *walk) fail(f *fault) {
	w.growth.End = &flow.End{Failure: f.failure()}
	if w.ask.Index < 0 {
		w.record(flow.Event{Type: "ExecutionFailed", Details: f.details()})
		return
	}
	before := w.last
	owner := w.owner()
	if owner != nil && owner.kind == mapState {
		w.iterationEvent("MapIterationFailed", owner.name, w.ask.Index)
		w.last = before
	}
	if w.state != owner {
		switch w.state.kind {
		case taskState, waitState, parallelState, mapState:
			w.namedEvent(w.state.kind.String()+"StateAborted", w.state.name)
			w.last = before
		default: // AWS has no such event of the others
		}
	}
	w.growth.End.Note = w.endNote()
}

// owner returns the state whose branch or iteration the level is.
func (w *walk) owner() *state { return w.machine.states[w.outer().state] }

// overdue ends the run because its time is up.
func (w *walk) overdue() {
	f := &fault{name: statesTimeout}
	w.record(flow.Event{Type: "ExecutionTimedOut", Details: f.details()})
	w.growth.End = &flow.End{Failure: f.failure(), TimedOut: true}
}

// stopped tells the history that the run was ended from outside.
func (w *walk) stopped() {
	if w.ask.Index >= 0 {
		return
	}
	e := flow.Event{Type: "ExecutionAborted"}
	if failure := w.ask.Cause.Failure; failure != nil {
		e.Details = taskFault(failure, "").details()
	}
	w.record(e)
}

// details returns how events tell a fault.
func (f *fault) details() atom.Value {
	var o object
	f.tell(&o)
	return o.value()
}

func (f *fault) tell(o *object) {
	if !f.bare {
		o.text("error", f.name)
	}
	if f.cause != "" {
		o.text("cause", f.cause)
	}
}

// scheduled tells of a task that is to be run, and that it is.
func (w *walk) scheduled(input *datum, timeout, heartbeat int64, role string) {
	t := w.state.task
	var details object
	key := "input"
	if t.lambda || t.activity {
		details.text("resource", t.resource)
	} else {
		key = "parameters"
		t.tell(&details)
		details.text("region", w.attributes().Region)
	}
	if timeout > 0 {
		details.integer("timeoutInSeconds", timeout)
	}
	if heartbeat > 0 && !t.lambda {
		details.integer("heartbeatInSeconds", heartbeat)
	}
	if role != "" {
		details.datum("taskCredentials", treeDatum(map[string]any{"roleArn": role}))
	}
	w.record(flow.Event{Type: t.events() + "Scheduled", Name: w.state.name, Details: details.value(), Key: key, Body: input.encoded()})
	w.event(t.events()+"Started", t.details())
}

// events begins the types of the events about the task.
func (t *task) events() string {
	switch {
	case t.lambda:
		return "LambdaFunction"
	case t.activity:
		return "Activity"
	}
	return "Task"
}

// details returns what every event about the task repeats.
func (t *task) details() atom.Value {
	var o object
	t.tell(&o)
	return o.value()
}

func (t *task) tell(o *object) {
	if !t.lambda && !t.activity {
		o.text("resource", t.action)
		o.text("resourceType", t.service)
	}
}

func (w *walk) attemptSucceeded(result *datum) {
	t := w.state.task
	w.record(flow.Event{Type: t.events() + "Succeeded", Name: w.state.name, Details: t.details(), Key: "output", Body: result.encoded()})
}

func (w *walk) attemptFailed(f *fault) {
	t := w.state.task
	var details object
	t.tell(&details)
	f.tell(&details)
	kind := "Failed"
	if f.name == statesTimeout {
		kind = "TimedOut"
	}
	w.event(t.events()+kind, details.value())
}
