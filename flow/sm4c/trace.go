package sm4c

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// KindState is the kind of the visits that a tracer reports: the states of the language are all of one kind.
const KindState = "State"

// Tracer returns a tracer of a run of the machine. It reads the events of the history.
func (m *Machine) Tracer() grow.Tracer { return &tracer{visits: map[string]int{}} }

// A tracer knows the state that the machine is in.
type tracer struct {
	visits map[string]int // of each state
	open   *grow.Visit    // nil before the first state, and after the end
	out    []grow.Visit
}

// Trace implements [grow.Tracer].
func (t *tracer) Trace(number int64, path string, e *grow.Event) []grow.Visit {
	t.out = t.out[:0]
	if path != "" {
		return nil // of a branch of an action, which is in no state of its own
	}
	switch e.Type {
	case "StateEntered":
		t.enter(number, e.Name)
	case "MachineCompleted":
		t.end(grow.VisitLeft, nil)
	case "MachineFailed":
		t.end(grow.VisitFailed, failureOf(e.Details))
	case "MachineTimedOut", "MachineStopped": // the state did not fail
		t.end(grow.VisitAborted, nil)
	}
	return t.out
}

func (t *tracer) enter(number int64, state string) {
	before := t.open
	t.end(grow.VisitLeft, nil)
	t.visits[state]++
	n := t.visits[state]
	v := grow.Visit{
		Stage: grow.VisitEntered, Path: nodepath.Visit(nodepath.Escape(state), n), State: state, Kind: KindState, Number: n,
		Entered: number,
	}
	if before != nil {
		v.From, v.After = before.State, before.Path
	}
	t.out = append(t.out, v)
	t.open = &v
}

// end ends the open visit.
func (t *tracer) end(stage grow.VisitStage, f *atom.Failure) {
	if t.open == nil {
		return
	}
	v := *t.open
	v.Stage, v.Failure = stage, f
	t.out = append(t.out, v)
	t.open = nil
}

// failureOf returns the failure that an event has.
func failureOf(details atom.Value) *atom.Failure {
	f := &atom.Failure{}
	for name, text := range map[string]*string{"code": &f.Code, "message": &f.Message} {
		if v, ok := details.Field(name); ok {
			_ = v.Decode(text) // it is a text
		}
	}
	return f
}
