package interpreter

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// An interpreter answers one question of the engine. It continues as far as it can without waiting.
type interpreter struct {
	machine *syntax.Machine
	ask     *grow.Ask
	growth  grow.Growth

	mem     *memory        // memory of the flow that the question is about
	run     *memory        // memory of the run's own flow; nil until a branch reads it
	touched bool           // the flow is a branch, and it changed run
	branch  *syntax.Action // action of the flow, if the flow is a branch; nil for the run's own flow
	input   *jsonValue     // input of a branch
	left    int            // number of actions and transitions that this answer may still start
	over    bool           // the flow has ended

	before known // values of the run's memory on which labels depend

	unchanged bool // the cause does not concern the flow
}

// A step is the next step of the interpreter; nil if it has to wait.
type step func() step

// Grow answers one question of the engine.
func Grow(m *syntax.Machine, ask *grow.Ask) grow.Growth {
	w := &interpreter{machine: m, ask: ask, left: stepBudget}
	if err := w.answer(); err != nil {
		return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: atom.CodeLanguage, Message: err.Error()}}}
	}
	w.remember()
	w.growth.Steps = int64(stepBudget - w.left)
	return w.growth
}

// answer handles the cause. It returns an error only for a question that no engine asks, such as one about an action
// that the definition does not have.
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
		if f.action < 0 || f.action >= len(w.machine.Actions) {
			return fmt.Errorf("sm4c: %s: the definition has no action %d", w.machine.Name, f.action)
		}
	}
	if w.ask.Index < 0 && w.ask.Cause.Kind != grow.Begin && w.mem.stage != calling && w.mem.stage != expiring &&
		w.state() == nil {
		return fmt.Errorf("sm4c: %s: the definition has no state %q", w.machine.Name, w.mem.state)
	}
	for next := w.first(); next != nil && !w.ask.Done(); {
		next = next()
	}
	return nil
}

// first returns the first step for the cause.
func (w *interpreter) first() step {
	cause := &w.ask.Cause
	switch cause.Kind {
	case grow.Begin:
		if w.branch != nil {
			return w.start(w.branch)
		}
		return w.begin()
	case grow.Continue:
		return w.goOn()
	case grow.Told:
		return w.told()
	case grow.Overdue:
		return w.overdue()
	case grow.Stopped:
		if f := cause.Failure; f.EndsRun() {
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

// goOn continues the steps for which the last answer had no budget left.
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
	return nil // already done
}

// remember adds the changed memory to the answer.
func (w *interpreter) remember() {
	var f *stateerror.Error
	if w.touched {
		w.growth.Outer, f = w.run.encode()
	}
	if f == nil && !w.over && !w.unchanged {
		w.growth.Memory, f = w.mem.encode()
	}
	if f != nil {
		w.growth.Memory, w.growth.Outer = nil, nil
		w.end(&grow.End{Failure: f.Failure()})
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
func (w *interpreter) end(e *grow.End) {
	w.over = true
	w.growth.End, w.growth.More = e, nil
}

// state returns the current state of the machine; nil if the definition does not have it.
func (w *interpreter) state() *syntax.State { return w.machine.ByName[w.run.state] }

// node returns the name of the next node with a base name, and counts it if there may be more.
func (w *interpreter) node(name string, repeats bool) string {
	n := 1
	if repeats {
		w.mem.visits[name]++
		n = w.mem.visits[name]
	}
	return nodepath.Visit(name, n)
}

// add adds a node.
func (w *interpreter) add(spec grow.Spec) {
	spec.Note = atom.Null
	w.growth.Add = append(w.growth.Add, spec)
}

// later adds a delay to the current time. It limits the delay, so that the sum is a valid time.
func (w *interpreter) later(d time.Duration) time.Time {
	return w.ask.Now.Add(min(d, syntax.LongestDelay))
}
