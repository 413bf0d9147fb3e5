package sm4c

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jq"
)

// The run algorithm: which state is entered, what is done there, and how it is
// left (section 3 of the language's text).

// begin begins the run.
func (w *interpreter) begin() step {
	if call := w.call(); call != "" {
		return w.beginCall(call)
	}
	m := w.mem
	m.data = treeValue(map[string]any{})
	if in := w.ask.Cause.Input; len(in) > 0 && in.String() != "null" {
		m.data = textValue(in.JSON())
	}
	w.event("MachineStarted", "", nil)
	if t := w.machine.timeout; t != nil {
		w.growth.Deadline = w.later(t.after)
	}
	return w.enter(w.machine.start)
}

// enter enters a state.
func (w *interpreter) enter(s *state) step {
	return func() step {
		m := w.mem
		m.state, m.stage, m.view = s.name, entering, nil
		w.event("StateEntered", s.name, nil)
		if s.filter != nil {
			tree, f := m.data.value()
			if f == nil {
				tree, f = s.filter.evaluate(w.ask.Interrupted, tree)
			}
			if f != nil {
				return w.fail(f)
			}
			m.view = treeValue(tree) // once, for the whole stay (decision 2)
		}
		if s.enter.action != nil {
			return w.effect(&s.enter)
		}
		return w.decide
	}
}

// viewed returns what the state sees of the data.
func (w *interpreter) viewed() *jsonValue {
	if w.run.view != nil {
		return w.run.view
	}
	return w.run.data
}

// effect begins the action of a state or transition.
func (w *interpreter) effect(e *effect) step {
	w.mem.input, w.mem.frames = nil, nil
	return w.start(e.action)
}

// effectEnded goes on behind the action of a state or transition.
func (w *interpreter) effectEnded(e *effect, r result, then step) step {
	w.mem.input, w.mem.frames = nil, nil
	if r.fault == nil && e.handler != nil {
		var value any
		if value, r.fault = r.value.value(); r.fault == nil {
			r.fault = w.merge(e.handler, value)
		}
	}
	if r.fault != nil {
		return w.fail(r.fault)
	}
	return then
}

// rootEnded goes on behind the outermost action of the run's own flow.
func (w *interpreter) rootEnded(r result) step {
	m := w.mem
	if m.stage == expiring {
		return w.expired(r.fault)
	}
	s := w.state()
	switch m.stage {
	case entering:
		return w.effectEnded(&s.enter, r, w.decide)
	case moving:
		t := s.transitions[m.transition]
		return w.effectEnded(&t.effect, r, w.moved(t))
	default:
		t := s.transitions[m.transition]
		return w.effectEnded(&s.exit, r, w.enter(t.next))
	}
}

// decide looks for a transition that fires.
func (w *interpreter) decide() step {
	w.mem.stage = deciding
	if w.left == 0 {
		return nil // asks for more
	}
	w.left--
	s := w.state()
	if len(s.transitions) == 0 {
		return w.complete // exitAction of a final state is not run (decision 4)
	}
	if t := s.first(implicit); t != nil {
		return w.take(t, "at once")
	}
	view, f := w.viewed().value()
	if f != nil {
		return w.fail(f)
	}
	for t := range s.of(condition) {
		holds, f := t.condition.evaluate(w.ask.Interrupted, view)
		if f != nil {
			return w.fail(f)
		}
		if holds == true { // and not what jq takes for true
			return w.take(t, "its condition holds")
		}
	}
	return w.wait
}

// take takes a transition.
func (w *interpreter) take(t *transition, why string) step {
	return func() step {
		m := w.mem
		m.steps++
		switch repeats, f := m.repeats(); {
		case f != nil:
			return w.fail(f)
		case repeats:
			return w.fail(newError(CodeLivelock, "%d transitions followed each other without a wait, and the machine is as it was %d transitions ago",
				m.steps, m.steps-m.marked))
		}
		m.stage, m.transition = moving, t.number
		to := m.state
		if t.next != nil {
			to = t.next.name
		}
		w.event("TransitionTaken", m.state, map[string]any{"to": to, "transition": t.number, "why": why})
		if t.effect.action != nil {
			return w.effect(&t.effect)
		}
		return w.moved(t)
	}
}

// moved goes on behind the action of a transition: out of the state, or, without
// a next state, to what fires now (decision 5).
func (w *interpreter) moved(t *transition) step {
	return func() step {
		if t.next == nil {
			return w.decide
		}
		s := w.state()
		if s.exit.action == nil {
			return w.enter(t.next)
		}
		w.mem.stage = leaving
		return w.effect(&s.exit)
	}
}

// merge lets a result handler replace the data of the machine: . is all of it,
// no matter which state handles it, and $value is the result (decision 3).
func (w *interpreter) merge(handler *expression, value any) *stateError {
	run, f := w.outer()
	if f != nil {
		return f
	}
	data, f := run.data.value()
	if f != nil {
		return f
	}
	result, f := handler.run(w.ask.Interrupted, data, value)
	if f != nil || result.Count == 0 {
		return f
	}
	merged := treeValue(result.Value)
	if _, f := merged.text(); f != nil {
		return f
	}
	if len(run.frames) > 0 && run.input == nil && run.view == nil {
		run.input = run.data // actions see what they began with
	}
	run.data = merged
	w.touched = w.branch != nil
	return nil
}

// outer returns the memory of the run's own flow.
func (w *interpreter) outer() (*memory, *stateError) {
	if w.run == nil {
		run, err := readMemory(w.ask.Outer)
		if err != nil || run.data == nil {
			return nil, expressionError("the run's data is not to be seen: %v", err)
		}
		w.run = run
		w.noteKnown()
	}
	return w.run, nil
}

// complete ends the machine well.
func (w *interpreter) complete() step {
	output, f := w.mem.data.encoded()
	if f != nil {
		return w.fail(f)
	}
	w.event("MachineCompleted", "", nil)
	w.end(&flow.End{Value: output})
	return nil
}

// fail ends the machine.
func (w *interpreter) fail(f *stateError) step {
	w.event("MachineFailed", w.mem.state, map[string]any{"code": f.code, "message": clip(f.message)})
	w.end(&flow.End{Failure: f.failure()})
	return nil
}

// overdue runs the action of the execution timeout.
func (w *interpreter) overdue() step {
	m := w.mem
	w.event("MachineTimedOut", m.state, nil)
	m.stage, m.wait, m.view, m.input, m.frames = expiring, "", nil, nil, nil
	if t := w.machine.timeout; t != nil && t.action != nil {
		return w.start(t.action)
	}
	return w.expired(nil)
}

// expired ends the machine behind the action of its timeout. The action's result
// is dropped; its error fails the machine.
func (w *interpreter) expired(f *stateError) step {
	if f != nil {
		return w.fail(f)
	}
	message := "the machine took longer than it may"
	if t := w.machine.timeout; t != nil {
		message = fmt.Sprintf("the machine took longer than %s", t.after)
	}
	w.end(&flow.End{TimedOut: true, Failure: newError(CodeTimeout, "%s", message).failure()})
	return nil
}

// event adds a line to the run's history.
func (w *interpreter) event(typ, name string, details map[string]any) {
	e := flow.Event{Type: typ, Name: name}
	if len(details) > 0 {
		if text, err := jq.Encode(details, maxEventDetails); err == nil {
			e.Details = atom.FromJSON(text)
		}
	}
	w.growth.Events = append(w.growth.Events, e)
}

// clip shortens a message for the history.
func clip(message string) string {
	if len(message) <= maxText {
		return message
	}
	return message[:maxText] + "…"
}
