package sm4c

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// An interpreter answers one question of the engine. It goes on as far as it can
// without waiting for anything.
type interpreter struct {
	machine *Machine
	ask     *flow.Ask
	growth  flow.Growth

	mem     *memory    // of the flow that is asked
	run     *memory    // of the run's own flow; nil until a branch asks for it
	touched bool       // run is a branch's, and was changed
	branch  *action    // what the flow runs, if it is a branch; nil for the run's own
	input   *jsonValue // of a branch
	left    int        // actions and transitions that may be begun in this answer
	over    bool       // the flow has ended

	before known // what of the run's memory labels depend on

	unchanged bool // what happened is of no interest to the flow
}

// A step is what is to be done next; nil when nothing is, before something has
// happened.
type step func() step

// NumbersNodes implements [flow.Numbering].
func (*Machine) NumbersNodes() {}

// Grow answers one question of the engine.
func (m *Machine) Grow(ask *flow.Ask) flow.Growth {
	w := &interpreter{machine: m, ask: ask, left: stepBudget}
	if err := w.answer(); err != nil {
		return flow.Growth{End: &flow.End{Failure: &atom.Failure{Code: atom.CodeLanguage, Message: err.Error()}}}
	}
	w.remember()
	w.growth.Steps = int64(stepBudget - w.left)
	return w.growth
}

// answer does what the cause asks for. It returns an error only for a question
// that no engine asks of this definition, such as one about an action that it
// does not have.
func (w *interpreter) answer() error {
	var err error
	if w.mem, err = readMemory(w.ask.Memory); err != nil {
		return err
	}
	if w.ask.Index < 0 {
		w.run = w.mem
		w.noteKnown()
	} else if err := w.inBranch(); err != nil {
		return err
	}
	for _, f := range w.mem.frames {
		if f.action < 0 || f.action >= len(w.machine.actions) {
			return fmt.Errorf("sm4c: %s: the definition has no action %d", w.machine.name, f.action)
		}
	}
	if w.ask.Index < 0 && w.ask.Cause.Kind != flow.Begin && w.mem.stage != calling && w.mem.stage != expiring && w.state() == nil {
		return fmt.Errorf("sm4c: %s: the definition has no state %q", w.machine.name, w.mem.state)
	}
	for next := w.first(); next != nil && !w.ask.Done(); {
		next = next()
	}
	return nil
}

// first returns what the cause leads to.
func (w *interpreter) first() step {
	cause := &w.ask.Cause
	switch cause.Kind {
	case flow.Begin:
		if w.branch != nil {
			return w.start(w.branch)
		}
		return w.begin()
	case flow.Continue:
		return w.goOn()
	case flow.Told:
		return w.told()
	case flow.Overdue:
		return w.overdue()
	case flow.Stopped:
		if f := cause.Failure; f != nil && f.Code == atom.CodeLimit {
			w.event("MachineFailed", w.mem.state, map[string]any{"code": f.Code, "message": clip(f.Message)})
		} else {
			w.event("MachineStopped", "", nil)
		}
		w.over = true
		return nil
	default:
		return w.nodeEnded()
	}
}

// goOn does what the last answer had no budget for.
func (w *interpreter) goOn() step {
	m := w.mem
	switch {
	case w.branch != nil && (m.result != nil || m.fault != nil):
		return w.endBranch()
	case len(m.frames) > 0 && w.top().pending:
		return w.perform
	case w.branch == nil && m.stage == deciding:
		return w.decide
	}
	return nil // it was done already
}

// remember puts what the flow is to remember into the answer.
func (w *interpreter) remember() {
	var f *stateError
	if w.touched {
		w.growth.Outer, f = w.run.encode()
	}
	if f == nil && !w.over && !w.unchanged {
		w.growth.Memory, f = w.mem.encode()
	}
	if f != nil {
		w.growth.Memory, w.growth.Outer = nil, nil
		w.end(&flow.End{Failure: f.failure()})
	}
	w.label()
	if w.over || w.branch != nil {
		return
	}
	m := w.mem
	w.growth.Listen = m.stage == waiting && m.wait == ""
	if m.stage == deciding || len(m.frames) > 0 && w.top().pending {
		w.growth.More = atom.Null
	}
}

// end ends the flow.
func (w *interpreter) end(e *flow.End) {
	w.over = true
	w.growth.End, w.growth.More = e, nil
}

// state returns the state that the machine is in, nil if the definition has none
// of the name.
func (w *interpreter) state() *state { return w.machine.byName[w.run.state] }

// node returns the name of the next node of a name, and counts it if there may
// be more.
func (w *interpreter) node(name string, repeats bool) string {
	n := 1
	if repeats {
		w.mem.visits[name]++
		n = w.mem.visits[name]
	}
	return visited(name, n)
}

// add adds a node.
func (w *interpreter) add(spec flow.Spec) {
	spec.Note = atom.Null
	w.growth.Add = append(w.growth.Add, spec)
}

// later returns a time that is still one: delays are long at times.
func (w *interpreter) later(d time.Duration) time.Time { return w.ask.Now.Add(min(d, longestDelay)) }
