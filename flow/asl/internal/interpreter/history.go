package interpreter

import (
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// The history of a run in the terms of AWS: types, details, and the event from which each event follows. Values are
// JSON; the program that shows them as AWS does turns them into texts that contain JSON.

// A history writes the events of one answer.
type history struct {
	surroundings

	growth grow.Growth
	last   int64 // number of the event that the next one follows from
	told   int64 // number of events of the answer, including those left out
}

// record writes an event. It follows from the previous event of its level.
func (w *history) record(e grow.Event) {
	if !w.Ask.Quiet {
		e.Prev = w.last
		w.growth.Events = append(w.growth.Events, e)
	}
	w.count()
}

// count gives an event its number.
func (w *history) count() {
	w.told++
	w.last = w.Ask.Event + w.told - 1
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
func (w *history) event(kind string, details atom.Value) {
	w.record(grow.Event{Type: kind, Name: w.State.Name, Details: details})
}

func (w *history) namedEvent(kind, name string) { w.record(grow.Event{Type: kind, Name: name}) }

func (w *history) iterationEvent(kind, name string, index int) {
	if w.Ask.Quiet {
		w.count()
		return
	}
	details := newDetails()
	details.Number("index", int64(index))
	details.String("name", name)
	w.record(grow.Event{Type: kind, Name: name, Details: ended(details)})
}

// started begins the history of a run. The first state entered follows from
// nothing, as on AWS.
func (w *history) started(input *data.Value) {
	details := newDetails()
	if role := w.attributes().RoleARN; role != "" {
		details.String("roleArn", role)
	}
	w.record(grow.Event{Type: "ExecutionStarted", Details: ended(details), Key: "input", Body: input.Encoded()})
	w.last = 0
}

var enteredTypes, exitedTypes = func() (entered, exited [len(syntax.KindNames)]string) {
	for i, name := range syntax.KindNames {
		entered[i], exited[i] = name+"StateEntered", name+"StateExited"
	}
	return entered, exited
}()

// evaluationFailed writes the event that a query failed or returned an unusable result. On AWS, if nothing happened
// since the state was entered, the event has the same predecessor as the event of entering. In a catcher, it has the
// predecessor of the caught failure.
func (w *history) evaluationFailed(f *stateerror.Error) {
	switch {
	case w.brokeAt > 0:
		w.last = w.brokeAt
	case w.last == w.entered && !f.Follows:
		w.last = w.before
	}
	details := newDetails()
	details.String("state", w.State.Name)
	if f.Location != "" {
		details.String("location", f.Location)
	}
	tellError(details, f)
	w.event("EvaluationFailed", ended(details))
	w.broken = w.State.Kind == syntax.ParallelState || w.State.Kind == syntax.MapState
}

// tellBroken writes the event that the Parallel or Map state has failed, when the state is not retried.
func (w *history) tellBroken() {
	if w.broken {
		w.broken, w.brokeAt = false, w.last
		w.event(w.State.Kind.String()+"StateFailed", nil)
	}
}

// exit writes the event that the state is left.
func (w *history) exit(out Step) {
	w.Set(out.Assigned)
	if w.Ask.Quiet {
		w.count()
		return
	}
	details := newDetails()
	if len(out.Assigned) > 0 {
		details.Raw("assignedVariables", data.WriteMembers(jsontext.NewWriter(), out.Assigned).Bytes())
	}
	w.record(grow.Event{
		Type: exitedTypes[w.State.Kind], Name: w.State.Name, Details: ended(details), Key: "output",
		Body: out.Output.Encoded(),
	})
}

// succeed ends the level with success.
func (w *history) succeed(output *data.Value) {
	w.growth.End = &grow.End{Value: output.Encoded()}
	if w.Ask.Index < 0 {
		w.record(grow.Event{Type: "ExecutionSucceeded", Key: "output", Body: output.Encoded()})
		return
	}
	if owner := w.owner(); owner != nil && owner.Kind == syntax.MapState {
		w.outer().freed = w.last
		w.iterationEvent("MapIterationSucceeded", owner.Name, w.Ask.Index)
	}
	w.growth.End.Note = w.endNote()
}

// fail ends the level with an error. For an inner level, it writes the events of the iteration and the state that end
// with the level. If the error ends the whole execution, it writes no such events.
func (w *history) fail(f *stateerror.Error) {
	w.growth.End = &grow.End{Failure: f.Failure()}
	if w.Ask.Index < 0 {
		w.record(grow.Event{Type: "ExecutionFailed", Details: errorDetails(f)})
		return
	}
	if owner := w.owner(); w.State != owner && !w.ends(f) { // otherwise nothing of the level has started
		before := w.last
		if owner != nil && owner.Kind == syntax.MapState {
			w.iterationEvent("MapIterationFailed", owner.Name, w.Ask.Index)
			w.last = before
		}
		switch w.State.Kind {
		case syntax.TaskState, syntax.WaitState, syntax.ParallelState, syntax.MapState:
			w.namedEvent(w.State.Kind.String()+"StateAborted", w.State.Name)
			w.last = before
		default: // AWS has no such event for other states
		}
	}
	w.growth.End.Note = w.endNote()
}

// ends reports whether an error ends the execution, whatever state raised it. No level around handles it, and the
// history contains only the end of the execution.
func (w *history) ends(f *stateerror.Error) bool {
	return f.Name == stateerror.Runtime && !w.Rules().AllMatchesAll
}

// owner returns the state whose branch or iteration the level is.
func (w *history) owner() *syntax.State { return w.Machine.States[w.outer().state] }

// overdue ends the run because its time is up.
func (w *history) overdue() {
	f := &stateerror.Error{Name: stateerror.Timeout}
	w.record(grow.Event{Type: "ExecutionTimedOut", Details: errorDetails(f)})
	w.growth.End = &grow.End{Failure: f.Failure(), TimedOut: true}
}

// stopped writes that the run was ended from outside. AWS writes nothing about running states, but map runs are
// separate and end too.
func (w *history) stopped() {
	if w.Ask.Index >= 0 {
		return
	}
	for _, path := range w.Ask.Cause.Aborted {
		parts := strings.Split(path, "/")
		s, index := w.nodeState(parts[len(parts)-1])
		if s != nil && index < 0 && s.Items != nil && s.Items.Distributed != nil && !w.ofMapRun(parts) {
			w.namedEvent("MapRunAborted", s.Name)
			w.last = 0
		}
	}
	e := grow.Event{Type: "ExecutionAborted"}
	if w.Ask.Cause.Failure.EndsRun() { // not an operator
		e.Type = "ExecutionFailed"
	}
	if failure := w.Ask.Cause.Failure; failure != nil {
		f := stateerror.OfTask(failure, "")
		f.Bare = f.Bare || failure.Code == atom.CodeCancelled // the operator gave the error no name
		e.Details = errorDetails(f)
	}
	w.record(e)
}

// errorDetails returns the details with which events describe an error.
func errorDetails(f *stateerror.Error) atom.Value {
	o := newDetails()
	tellError(o, f)
	return ended(o)
}

func tellError(o *jsontext.Writer, f *stateerror.Error) {
	if !f.Bare {
		o.String("error", f.Name)
	}
	if f.Cause != "" {
		o.String("cause", clip.Text(f.Cause, stateerror.MaxShown))
	}
}

// scheduled writes the events that a task is scheduled, and that it started.
func (w *history) scheduled(input *data.Value, timeout, heartbeat int64, role string) {
	t := w.State.Task
	details := newDetails()
	key := "input"
	if t.Lambda || t.Activity {
		details.String("resource", t.URI)
	} else {
		key = "parameters"
		tellTask(details, t)
		details.String("region", w.attributes().Region)
	}
	if timeout > 0 {
		details.Number("timeoutInSeconds", timeout)
	}
	if heartbeat > 0 && !t.Lambda {
		details.Number("heartbeatInSeconds", heartbeat)
	}
	if role != "" {
		details.Raw("taskCredentials", data.Tree(jsontext.OrderedMapOf("roleArn", role)).JSON())
	}
	w.record(grow.Event{
		Type: taskEvents(t) + "Scheduled", Name: w.State.Name, Details: ended(details), Key: key,
		Body: input.Encoded(),
	})
	if !t.Activity { // the work of an activity starts when a worker takes it
		w.event(taskEvents(t)+"Started", taskDetails(t))
	}
}

// taskEvents returns the prefix of the types of events about a task.
func taskEvents(t *syntax.Task) string {
	switch {
	case t.Lambda:
		return "LambdaFunction"
	case t.Activity:
		return "Activity"
	}
	return "Task"
}

// taskDetails returns the details that all events about a task have.
func taskDetails(t *syntax.Task) atom.Value {
	o := newDetails()
	tellTask(o, t)
	return ended(o)
}

func tellTask(o *jsontext.Writer, t *syntax.Task) {
	if !t.Lambda && !t.Activity {
		o.String("resource", t.Action)
		o.String("resourceType", t.Service)
	}
}

func (w *history) attemptSucceeded(result *data.Value) {
	t := w.State.Task
	w.record(grow.Event{
		Type: taskEvents(t) + "Succeeded", Name: w.State.Name, Details: taskDetails(t), Key: "output",
		Body: result.Encoded(),
	})
}

func (w *history) attemptFailed(f *stateerror.Error) {
	t := w.State.Task
	details := newDetails()
	tellTask(details, t)
	tellError(details, f)
	kind := "Failed"
	if f.Name == stateerror.Timeout {
		kind = "TimedOut"
	}
	w.event(taskEvents(t)+kind, ended(details))
}

// endNote returns the note of a child for its parent: the number of its last event.
func (w *history) endNote() atom.Value { return data.Encode(data.Number(w.last)) }

// aborted writes the events of nodes that were ended because a sibling or the run failed.
func (w *history) aborted(paths []string) {
	last := w.last
	iteration := ""
	for _, path := range paths {
		parts := strings.Split(strings.TrimPrefix(path, w.Ask.Path+"/"), "/")
		if len(parts) > 1 && parts[0] != iteration {
			iteration = parts[0]
			if s, index := w.nodeState(parts[0]); s != nil && s.Kind == syntax.MapState && index >= 0 &&
				s.Items.Distributed == nil {
				w.iterationEvent("MapIterationAborted", s.Name, index)
				w.last = last
			}
		}
		if w.ofMapRun(parts) {
			continue
		}
		s, _ := w.nodeState(parts[len(parts)-1])
		if s == nil {
			continue
		}
		if s.Items != nil && s.Items.Distributed != nil {
			w.namedEvent("MapRunAborted", s.Name)
			w.last = last
		}
		w.namedEvent(s.Kind.String()+"StateAborted", s.Name)
		w.last = last
	}
}
