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
func (w *walk) event(kind string, details map[string]any) {
	e := flow.Event{Type: kind, Name: w.state.name}
	if len(details) > 0 {
		e.Details = encode(details)
	}
	w.record(e)
}

func (w *walk) namedEvent(kind, name string) { w.record(flow.Event{Type: kind, Name: name}) }

func (w *walk) iterationEvent(kind, name string, index int) {
	w.record(flow.Event{Type: kind, Name: name, Details: encode(map[string]any{"index": index, "name": name})})
}

// started begins the history of a run. The first state entered follows from
// nothing, as on AWS.
func (w *walk) started(input *datum) {
	e := flow.Event{Type: "ExecutionStarted", Key: "input", Body: input.encoded()}
	if role := w.attributes().RoleARN; role != "" {
		e.Details = encode(map[string]any{"roleArn": role})
	}
	w.record(e)
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
	e := flow.Event{Type: exitedTypes[w.state.kind], Name: w.state.name, Key: "output", Body: out.output.encoded()}
	if len(out.assigned) > 0 {
		e.Details = append(appendVariables(append([]byte{atom.CodecJSON}, `{"assignedVariables":`...), out.assigned), '}')
	}
	w.record(e)
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
		before := w.last
		w.iterationEvent("MapIterationSucceeded", owner.name, w.ask.Index)
		w.last = before // what comes next follows from the event before it, too
	}
	w.growth.End.Note = w.endNote()
}

// fail ends the level with a fault.
func (w *walk) fail(f *fault) {
	w.growth.End = &flow.End{Failure: f.failure()}
	if w.ask.Index < 0 {
		e := flow.Event{Type: "ExecutionFailed"}
		if details := f.details(); len(details) > 0 {
			e.Details = encode(details)
		}
		w.record(e)
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
		}
	}
	w.growth.End.Note = w.endNote()
}

// owner returns the state whose branch or iteration the level is.
func (w *walk) owner() *state { return w.machine.states[w.outer().state] }

// overdue ends the run because its time is up.
func (w *walk) overdue() {
	f := &fault{name: statesTimeout}
	w.record(flow.Event{Type: "ExecutionTimedOut", Details: encode(f.details())})
	w.growth.End = &flow.End{Failure: f.failure(), TimedOut: true}
}

// stopped tells the history that the run was ended from outside.
func (w *walk) stopped() {
	if w.ask.Index >= 0 {
		return
	}
	e := flow.Event{Type: "ExecutionAborted"}
	if failure := w.ask.Cause.Failure; failure != nil {
		if details := taskFault(failure, "").details(); len(details) > 0 {
			e.Details = encode(details)
		}
	}
	w.record(e)
}

// details returns how events tell a fault.
func (f *fault) details() map[string]any {
	d := map[string]any{}
	if !f.bare {
		d["error"] = f.name
	}
	if f.cause != "" {
		d["cause"] = f.cause
	}
	return d
}

// scheduled tells of a task that is to be run, and that it is.
func (w *walk) scheduled(input *datum, timeout, heartbeat int64, role string) {
	t := w.state.task
	details := map[string]any{}
	if timeout > 0 {
		details["timeoutInSeconds"] = timeout
	}
	if heartbeat > 0 && !t.lambda {
		details["heartbeatInSeconds"] = heartbeat
	}
	if role != "" {
		details["taskCredentials"] = map[string]any{"roleArn": role}
	}
	key := "input"
	if t.lambda || t.activity {
		details["resource"] = t.resource
	} else {
		key = "parameters"
		details["resource"], details["resourceType"] = t.action, t.service
		details["region"] = w.attributes().Region
	}
	w.record(flow.Event{Type: t.events() + "Scheduled", Name: w.state.name, Details: encode(details), Key: key, Body: input.encoded()})
	w.event(t.events()+"Started", t.resourceDetails())
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

// resourceDetails returns what every event about the task repeats.
func (t *task) resourceDetails() map[string]any {
	if t.lambda || t.activity {
		return map[string]any{}
	}
	return map[string]any{"resource": t.action, "resourceType": t.service}
}

func (w *walk) attemptSucceeded(result *datum) {
	t := w.state.task
	e := flow.Event{Type: t.events() + "Succeeded", Name: w.state.name, Key: "output", Body: result.encoded()}
	if details := t.resourceDetails(); len(details) > 0 {
		e.Details = encode(details)
	}
	w.record(e)
}

func (w *walk) attemptFailed(f *fault) {
	t := w.state.task
	details := t.resourceDetails()
	for name, value := range f.details() {
		details[name] = value
	}
	kind := "Failed"
	if f.name == statesTimeout {
		kind = "TimedOut"
	}
	w.event(t.events()+kind, details)
}
