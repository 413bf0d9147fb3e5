package asl

import (
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// The history of a run in the words of AWS: types, details and the event that
// each follows from. Values are JSON; the program that shows them as AWS does turns them
// into JSON texts.

// record writes an event. What it follows from is the event before it in its
// level.
func (w *interpreter) record(e flow.Event) {
	if !w.ask.Quiet {
		e.Prev = w.last
		w.growth.Events = append(w.growth.Events, e)
	}
	w.count()
}

// count gives an event its number.
func (w *interpreter) count() {
	w.told++
	w.last = w.ask.Event + w.told - 1
}

// newDetails begins the details of an event, and ended returns them: nil if there are
// none.
func newDetails() *jsontext.Writer { return jsontext.NewWriter(atom.CodecJSON) }

func ended(details *jsontext.Writer) atom.Value {
	if details.Empty() {
		return nil
	}
	return atom.Value(details.Bytes())
}

// event writes an event about the visited state.
func (w *interpreter) event(kind string, details atom.Value) {
	w.record(flow.Event{Type: kind, Name: w.state.name, Details: details})
}

func (w *interpreter) namedEvent(kind, name string) { w.record(flow.Event{Type: kind, Name: name}) }

func (w *interpreter) iterationEvent(kind, name string, index int) {
	if w.ask.Quiet {
		w.count()
		return
	}
	details := newDetails()
	details.Number("index", int64(index))
	details.String("name", name)
	w.record(flow.Event{Type: kind, Name: name, Details: ended(details)})
}

// started begins the history of a run. The first state entered follows from
// nothing, as on AWS.
func (w *interpreter) started(input *jsonValue) {
	details := newDetails()
	if role := w.attributes().RoleARN; role != "" {
		details.String("roleArn", role)
	}
	w.record(flow.Event{Type: "ExecutionStarted", Details: ended(details), Key: "input", Body: input.encoded()})
	w.last = 0
}

var enteredTypes, exitedTypes = func() (entered, exited [len(kindNames)]string) {
	for i, name := range kindNames {
		entered[i], exited[i] = name+"StateEntered", name+"StateExited"
	}
	return entered, exited
}()

// enter begins the visit of a state.
func (w *interpreter) enter(s *state, input *jsonValue) {
	w.state, w.input, w.enteredAt = s, input, w.ask.Now
	w.tries, w.attempted, w.ctx, w.ctxQuery, w.token, w.child = nil, false, nil, nil, "", nil
	w.broken, w.brokeAt = false, 0
	w.growth.Steps++
	w.spent += jsonata.MaxSteps - w.steps
	w.steps, w.before = jsonata.MaxSteps, w.last
	if w.ask.Quiet {
		w.count()
	} else {
		w.record(flow.Event{Type: enteredTypes[s.kind], Name: s.name, Key: "input", Body: input.encoded()})
	}
	w.entered = w.last
}

// evaluationFailed tells of a query that has no good result. On AWS the event
// follows from what entering the state followed from, if nothing has happened
// since; in a catcher, from what the failure that was caught followed from.
func (w *interpreter) evaluationFailed(f *stateError) {
	switch {
	case w.brokeAt > 0:
		w.last = w.brokeAt
	case w.last == w.entered && !f.follows:
		w.last = w.before
	}
	details := newDetails()
	details.String("state", w.state.name)
	if f.location != "" {
		details.String("location", f.location)
	}
	f.tell(details)
	w.event("EvaluationFailed", ended(details))
	w.broken = w.state.kind == parallelState || w.state.kind == mapState
}

// tellBroken tells the history that the Parallel or Map state has failed, for it is
// not tried again.
func (w *interpreter) tellBroken() {
	if w.broken {
		w.broken, w.brokeAt = false, w.last
		w.event(w.state.kind.String()+"StateFailed", nil)
	}
}

// exit ends it.
func (w *interpreter) exit(out step) {
	w.set(out.assigned)
	if w.ask.Quiet {
		w.count()
		return
	}
	details := newDetails()
	if len(out.assigned) > 0 {
		details.Raw("assignedVariables", writeData(jsontext.NewWriter(), out.assigned).Bytes())
	}
	w.record(flow.Event{Type: exitedTypes[w.state.kind], Name: w.state.name, Details: ended(details), Key: "output", Body: out.output.encoded()})
}

// succeed ends the level well.
func (w *interpreter) succeed(output *jsonValue) {
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

// fail ends the level with an error. Of a level inside, the history is told what
// ends with it, unless the execution does: then that is all it is told.
func (w *interpreter) fail(f *stateError) {
	w.growth.End = &flow.End{Failure: f.failure()}
	if w.ask.Index < 0 {
		w.record(flow.Event{Type: "ExecutionFailed", Details: f.details()})
		return
	}
	if owner := w.owner(); w.state != owner && !f.ends(w.machine.profile) { // else nothing of the level has begun
		before := w.last
		if owner != nil && owner.kind == mapState {
			w.iterationEvent("MapIterationFailed", owner.name, w.ask.Index)
			w.last = before
		}
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
func (w *interpreter) owner() *state { return w.machine.states[w.outer().state] }

// overdue ends the run because its time is up.
func (w *interpreter) overdue() {
	f := &stateError{name: statesTimeout}
	w.record(flow.Event{Type: "ExecutionTimedOut", Details: f.details()})
	w.growth.End = &flow.End{Failure: f.failure(), TimedOut: true}
}

// stopped tells the history that the run was ended from outside. AWS says nothing of
// the states that were at work, but map runs are things of their own, which end, too.
func (w *interpreter) stopped() {
	if w.ask.Index >= 0 {
		return
	}
	for _, path := range w.ask.Cause.Aborted {
		parts := strings.Split(path, "/")
		s, index := w.nodeState(parts[len(parts)-1])
		if s != nil && index < 0 && s.items != nil && s.items.distributed != nil && !w.ofMapRun(parts) {
			w.namedEvent("MapRunAborted", s.name)
			w.last = 0
		}
	}
	e := flow.Event{Type: "ExecutionAborted"}
	if failure := w.ask.Cause.Failure; failure != nil && failure.Code == atom.CodeLimit { // nobody wanted that
		e.Type = "ExecutionFailed"
	}
	if failure := w.ask.Cause.Failure; failure != nil {
		f := taskError(failure, "")
		f.bare = f.bare || failure.Code == atom.CodeCancelled // nobody gave it another name
		e.Details = f.details()
	}
	w.record(e)
}

// details returns how events tell an error.
func (f *stateError) details() atom.Value {
	o := newDetails()
	f.tell(o)
	return ended(o)
}

func (f *stateError) tell(o *jsontext.Writer) {
	if !f.bare {
		o.String("error", f.name)
	}
	if f.cause != "" {
		o.String("cause", clip.Text(f.cause, maxShown))
	}
}

// scheduled tells of a task that is to be run, and that it is.
func (w *interpreter) scheduled(input *jsonValue, timeout, heartbeat int64, role string) {
	t := w.state.task
	details := newDetails()
	key := "input"
	if t.lambda || t.activity {
		details.String("resource", t.uri)
	} else {
		key = "parameters"
		t.tell(details)
		details.String("region", w.attributes().Region)
	}
	if timeout > 0 {
		details.Number("timeoutInSeconds", timeout)
	}
	if heartbeat > 0 && !t.lambda {
		details.Number("heartbeatInSeconds", heartbeat)
	}
	if role != "" {
		details.Raw("taskCredentials", treeValue(jsontext.OrderedMapOf("roleArn", role)).json())
	}
	w.record(flow.Event{Type: t.events() + "Scheduled", Name: w.state.name, Details: ended(details), Key: key, Body: input.encoded()})
	if !t.activity { // that begins when a worker takes it
		w.event(t.events()+"Started", t.details())
	}
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
	o := newDetails()
	t.tell(o)
	return ended(o)
}

func (t *task) tell(o *jsontext.Writer) {
	if !t.lambda && !t.activity {
		o.String("resource", t.action)
		o.String("resourceType", t.service)
	}
}

func (w *interpreter) attemptSucceeded(result *jsonValue) {
	t := w.state.task
	w.record(flow.Event{Type: t.events() + "Succeeded", Name: w.state.name, Details: t.details(), Key: "output", Body: result.encoded()})
}

func (w *interpreter) attemptFailed(f *stateError) {
	t := w.state.task
	details := newDetails()
	t.tell(details)
	f.tell(details)
	kind := "Failed"
	if f.name == statesTimeout {
		kind = "TimedOut"
	}
	w.event(t.events()+kind, ended(details))
}
