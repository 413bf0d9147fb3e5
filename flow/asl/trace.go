package asl

import (
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// Tracer returns a tracer of a run of the machine. It reads the events of the history in AWS's terms.
func (m *Machine) Tracer() grow.Tracer {
	t := &tracer{
		machine: m.machine, places: map[string]place{}, flows: map[string]*tracedLevel{}, left: map[string]leftVisit{},
	}
	t.place(m.machine.Top, "", 0)
	return t
}

// A tracer knows the levels that the run is in: the machine, branches and iterations. It forgets a level when it ends,
// so that its size is bounded by what happens at the same time.
type tracer struct {
	machine *syntax.Machine
	places  map[string]place        // of all states, by name
	flows   map[string]*tracedLevel // by path of the flow: the level that it is in
	left    map[string]leftVisit    // by path of the flow: visits that a redrive starts again
	out     []grow.Visit
}

// Trace implements [grow.Tracer].
func (t *tracer) Trace(number int64, path string, e *grow.Event) []grow.Visit {
	t.out = t.out[:0]
	switch kind, what := cutEvent(e.Type); what {
	case "StateAborted": // the event of the failure that it comes from says so, too
	case "StateEntered":
		l := t.levelOf(path, e.Name)
		l.last = number
		t.enter(l, number, kind, e)
	case "IterationStarted":
		t.iterate(path, number, e)
	case "IterationSucceeded", "IterationFailed", "IterationAborted":
		t.iterationEnded(path, number, what, e)
	case "Ended":
		t.end(path, e)
	case "Redriven":
		t.redriven()
	default:
		l := t.levelOf(path, e.Name)
		l.last = number
		t.happened(l, what, e)
	}
	return t.out
}

// cutEvent splits the type of an event into what it is about and what happened: Pass and StateEntered.
func cutEvent(name string) (about, what string) {
	if strings.HasPrefix(name, "MapRun") {
		return "", ""
	}
	for _, end := range []string{
		"StateEntered", "StateExited", "StateAborted", "StateStarted", "StateSucceeded", "StateFailed",
		"IterationStarted", "IterationSucceeded", "IterationFailed", "IterationAborted",
	} {
		if about, is := strings.CutSuffix(name, end); is {
			return about, end
		}
	}
	switch {
	case name == "EvaluationFailed":
		return "", "Broke"
	case name == "ExecutionStarted":
		return "", ""
	case name == "ExecutionRedriven":
		return "", "Redriven"
	case strings.HasPrefix(name, "Execution"):
		return "", "Ended"
	case strings.HasSuffix(name, "Scheduled"):
		return "", "Tried"
	case strings.HasSuffix(name, "Started"):
		return "", "Taken"
	case strings.HasSuffix(name, "Succeeded"):
		return "", "Did"
	case strings.HasSuffix(name, "Failed"), strings.HasSuffix(name, "TimedOut"):
		return "", "Broke"
	}
	return "", ""
}

func (t *tracer) enter(l *tracedLevel, number int64, kind string, e *grow.Event) {
	l.visits[e.Name]++
	n := l.visits[e.Name]
	name := nodepath.Visit(nodepath.Escape(e.Name), n)
	path := name
	if l.path != "" {
		path = l.path + "/" + name
	}
	v := grow.Visit{
		Stage: grow.VisitEntered, Path: path, Level: l.path, State: e.Name, Kind: kind, Number: n, Entered: number,
		Nodes: t.hasNodes(e.Name),
	}
	if l.ended != nil {
		v.From, v.After, v.Caught = l.ended.State, l.ended.Path, l.ended.Caught
	}
	t.out = append(t.out, v)
	l.open, l.broke = &v, nil
}

// hasNodes reports whether visits of a state may have nodes of their own.
func (t *tracer) hasNodes(state string) bool {
	s := t.machine.States[state]
	if s == nil {
		return false
	}
	switch s.Kind {
	case syntax.TaskState, syntax.WaitState:
		return true
	case syntax.ParallelState, syntax.MapState:
		return !s.AtOnce
	default:
		return false
	}
}

// iterate begins an iteration of a Map.
func (t *tracer) iterate(path string, number int64, e *grow.Event) {
	l := t.flow(path)
	for l.inline && (l.open == nil || l.open.State != e.Name) {
		l = l.outside
	}
	if l.open != nil && l.open.State == e.Name { // the events of the iteration are those of this flow
		index, _ := indexIn(e.Details)
		l = l.child(index, 0)
		t.out = append(t.out, l.visit(grow.VisitEntered, number))
	}
	l.last = number
	t.flows[path] = l
}

func indexIn(details atom.Value) (index int, ok bool) {
	v, ok := details.Field("index")
	return index, ok && v.Decode(&index) == nil
}

// iterationEnded ends an iteration of a Map.
func (t *tracer) iterationEnded(path string, number int64, what string, e *grow.Event) {
	l := t.flow(path)
	for l.inline && l.owner != e.Name {
		l = l.outside
	}
	switch {
	case l.owner != e.Name:
		return // of another flow, whose fork says how it ended
	case what == "IterationSucceeded":
		t.settle(l, grow.VisitLeft, nil)
	default:
		t.settle(l, grow.VisitFailed, nil)
	}
	if l.inline {
		stage := grow.VisitLeft
		if what != "IterationSucceeded" {
			stage = grow.VisitFailed
		}
		t.out = append(t.out, l.visit(stage, 0))
		t.flows[path] = l.outside
		l.outside.last = number
	} else if what == "IterationSucceeded" {
		delete(t.flows, path)
	}
	if l.outside != nil {
		delete(l.outside.inside, l.path)
	}
}

// happened is something else about the open visit of a level.
func (t *tracer) happened(l *tracedLevel, what string, e *grow.Event) {
	if l.open == nil || e.Name != "" && l.open.State != e.Name {
		return
	}
	switch what {
	case "Tried", "StateStarted":
		t.settleInside(l, e.Prev)
		t.forgetLeft(l)
		l.broke = nil
		t.tell(l, grow.VisitTried)
	case "Taken": // or begun at once
		t.out = append(t.out, grow.Visit{Stage: grow.VisitTaken, Path: l.open.Path})
	case "Did":
		t.tell(l, grow.VisitDid)
	case "Broke", "StateFailed":
		t.settleInside(l, e.Prev)
		l.broke = failureIn(e.Details)
		t.tell(l, grow.VisitBroke)
	case "StateExited":
		t.settleInside(l, 0)
		t.forgetLeft(l)
		l.open.Caught = l.broke != nil
		t.tell(l, grow.VisitLeft)
		l.open, l.ended = nil, l.open
	}
}

// tell says what happened to the open visit.
func (t *tracer) tell(l *tracedLevel, stage grow.VisitStage) {
	v := *l.open
	v.Stage, v.Failure = stage, l.broke
	t.out = append(t.out, v)
}

// failureIn returns the error that an event has.
func failureIn(details atom.Value) *atom.Failure {
	f := &atom.Failure{}
	if v, ok := details.Field("error"); ok {
		_ = v.Decode(&f.Code) // it is a text
	} else {
		f.Bare = true
	}
	if v, ok := details.Field("cause"); ok {
		_ = v.Decode(&f.Message) // it is a text
	}
	return f
}

// settle ends the open visit of a level, and all inside.
func (t *tracer) settle(l *tracedLevel, stage grow.VisitStage, f *atom.Failure) {
	if l.open == nil {
		return
	}
	t.settleInside(l, 0)
	if f != nil {
		l.broke = f
	}
	t.tell(l, stage)
	t.leave(l, stage)
	l.open = nil
}

// settleInside ends what is open in the levels inside the open visit of a level. If the event before the failure is in
// one of them, that one failed. The others were aborted. It reports whether one failed.
func (t *tracer) settleInside(l *tracedLevel, failed int64) bool {
	found := false
	for _, path := range slices.Sorted(maps.Keys(l.inside)) {
		inner := l.inside[path]
		stage := grow.VisitAborted
		if below := t.settleInside(inner, failed); inner.open != nil &&
			(below || inner.last == failed || inner.open.Kind == "Fail" || inner.broke != nil) {
			stage, found = grow.VisitFailed, true
		}
		t.settle(inner, stage, nil)
		if !inner.inline {
			delete(t.flows, path)
		}
	}
	l.inside = nil
	return found
}

// end ends the run.
func (t *tracer) end(path string, e *grow.Event) {
	l := t.flow(path)
	for l.inline {
		l = l.outside
	}
	switch e.Type {
	case "ExecutionSucceeded":
		t.settleInside(l, e.Prev)
	case "ExecutionAborted", "ExecutionTimedOut": // no state failed
		t.settle(l, grow.VisitAborted, nil)
	default:
		t.settleInside(l, e.Prev)
		t.settle(l, grow.VisitFailed, failureIn(e.Details))
	}
}
