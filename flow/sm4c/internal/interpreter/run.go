package interpreter

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// The run algorithm: which state is entered, which actions run there, and how the state is left (section 3 of the
// language's text).

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
	if t := w.machine.Timeout; t != nil {
		w.growth.Deadline = w.later(t.After)
	}
	return w.enter(w.machine.Start)
}

// enter enters a state.
func (w *interpreter) enter(s *syntax.State) step {
	return func() step {
		m := w.mem
		m.state, m.stage, m.view = s.Name, entering, nil
		w.machine.Through(s)
		w.valueEvent("StateEntered", s.Name, "input", m.data)
		if s.Filter != nil {
			tree, f := m.data.value()
			if f == nil {
				tree, f = s.Filter.Evaluate(w.ask.Interrupted, tree)
			}
			if f != nil {
				return w.fail(f)
			}
			m.view = treeValue(tree) // computed once for the whole stay (decision 2)
		}
		if s.Enter.Action != nil {
			return w.effect(&s.Enter)
		}
		return w.decide
	}
}

// viewed returns the data that the state sees.
func (w *interpreter) viewed() *jsonValue {
	if w.run.view != nil {
		return w.run.view
	}
	return w.run.data
}

// effect starts the action of a state or transition.
func (w *interpreter) effect(e *syntax.Effect) step {
	w.mem.input, w.mem.frames = nil, nil
	return w.start(e.Action)
}

// effectEnded continues after the action of a state or transition.
func (w *interpreter) effectEnded(e *syntax.Effect, r result, then step) step {
	w.mem.input, w.mem.frames = nil, nil
	if r.fault == nil && e.Handler != nil {
		var value any
		if value, r.fault = r.value.value(); r.fault == nil {
			r.fault = w.merge(e.Handler, value)
		}
	}
	if r.fault != nil {
		return w.fail(r.fault)
	}
	return then
}

// rootEnded continues after the outermost action of the run's own flow.
func (w *interpreter) rootEnded(r result) step {
	m := w.mem
	if m.stage == expiring {
		return w.expired(r.fault)
	}
	s := w.state()
	switch m.stage {
	case entering:
		return w.effectEnded(&s.Enter, r, w.decide)
	case moving:
		t := s.Transitions[m.transition]
		return w.effectEnded(&t.Effect, r, w.moved(t))
	default:
		t := s.Transitions[m.transition]
		return w.effectEnded(&s.Exit, r, w.enter(t.Next))
	}
}

// decide looks for a transition that fires.
func (w *interpreter) decide() step {
	w.mem.stage = deciding
	if w.left == 0 {
		return nil // ask the engine for more
	}
	w.left--
	s := w.state()
	if len(s.Transitions) == 0 {
		return w.complete // the exitAction of a final state does not run (decision 4)
	}
	if t := s.First(syntax.Implicit); t != nil {
		return w.take(t, "at once")
	}
	view, f := w.viewed().value()
	if f != nil {
		return w.fail(f)
	}
	for t := range s.Of(syntax.Condition) {
		holds, f := t.Condition.Evaluate(w.ask.Interrupted, view)
		if f != nil {
			return w.fail(f)
		}
		if holds == true { // only true, not other values that jq treats as true
			return w.take(t, "its condition holds")
		}
	}
	return w.wait
}

// take takes a transition.
func (w *interpreter) take(t *syntax.Transition, why string) step {
	return func() step {
		m := w.mem
		m.steps++
		switch repeats, f := m.repeats(); {
		case f != nil:
			return w.fail(f)
		case repeats:
			return w.fail(stateerror.New(stateerror.CodeLivelock,
				"%d transitions followed each other without a wait, and the machine is as it was %d transitions ago",
				m.steps, m.steps-m.marked))
		}
		m.stage, m.transition = moving, t.Number
		w.machine.Through(t)
		to := m.state
		if t.Next != nil {
			to = t.Next.Name
		}
		w.event("TransitionTaken", m.state, map[string]any{"to": to, "transition": t.Number, "why": why})
		if t.Effect.Action != nil {
			return w.effect(&t.Effect)
		}
		return w.moved(t)
	}
}

// moved continues after the action of a transition: it leaves the state or, without a next state, looks for a
// transition that fires now (decision 5).
func (w *interpreter) moved(t *syntax.Transition) step {
	return func() step {
		if t.Next == nil {
			return w.decide
		}
		s := w.state()
		if s.Exit.Action == nil {
			return w.enter(t.Next)
		}
		w.mem.stage = leaving
		return w.effect(&s.Exit)
	}
}

// merge replaces the data of the machine by the output of a result handler. For the handler, . is all data,
// independent of the state, and $value is the result (decision 3).
func (w *interpreter) merge(handler *syntax.Expression, value any) *stateerror.Error {
	run, f := w.outer()
	if f != nil {
		return f
	}
	data, f := run.data.value()
	if f != nil {
		return f
	}
	result, f := handler.Run(w.ask.Interrupted, data, value)
	if f != nil || result.Count == 0 {
		return f
	}
	merged := treeValue(result.Value)
	if _, f := merged.text(); f != nil {
		return f
	}
	if len(run.frames) > 0 && run.input == nil && run.view == nil {
		run.input = run.data // the actions keep the input with which they started
	}
	run.data = merged
	w.touched = w.branch != nil
	return nil
}

// outer returns the memory of the run's own flow.
func (w *interpreter) outer() (*memory, *stateerror.Error) {
	if w.run == nil {
		run, err := readMemory(w.ask.Outer)
		if err != nil || run.data == nil {
			return nil, stateerror.Expression("the run's data is not to be seen: %v", err)
		}
		w.run = run
		w.noteKnown()
	}
	return w.run, nil
}

// complete ends the machine successfully.
func (w *interpreter) complete() step {
	m := w.mem
	output, f := m.data.encoded()
	if f != nil {
		return w.fail(f)
	}
	w.valueEvent("MachineCompleted", "", "output", m.data)
	w.end(&grow.End{Value: output})
	return nil
}

// fail ends the machine with an error.
func (w *interpreter) fail(f *stateerror.Error) step {
	w.event("MachineFailed", w.mem.state, map[string]any{"code": f.Code, "message": clip(f.Message)})
	failure := f.Failure()
	failure.Atom = nodepath.Escape(w.mem.state) // the run's views name where it ended
	w.end(&grow.End{Failure: failure})
	return nil
}

// overdue runs the action of the execution timeout.
func (w *interpreter) overdue() step {
	m := w.mem
	w.event("MachineTimedOut", m.state, nil)
	m.stage, m.wait, m.view, m.input, m.frames = expiring, "", nil, nil, nil
	if t := w.machine.Timeout; t != nil && t.Action != nil {
		return w.start(t.Action)
	}
	return w.expired(nil)
}

// expired ends the machine after the action of its timeout. The machine drops the action's result; if the action
// failed, the machine fails.
func (w *interpreter) expired(f *stateerror.Error) step {
	if f != nil {
		return w.fail(f)
	}
	message := "the machine took longer than it may"
	if t := w.machine.Timeout; t != nil {
		message = fmt.Sprintf("the machine took longer than %s", t.After)
	}
	w.end(&grow.End{TimedOut: true, Failure: stateerror.New(stateerror.CodeTimeout, "%s", message).Failure()})
	return nil
}

// event adds an event to the run's history.
func (w *interpreter) event(typ, name string, details map[string]any) {
	e := grow.Event{Type: typ, Name: name}
	if len(details) > 0 {
		if text, err := jq.Encode(details, maxEventDetails); err == nil {
			e.Details = atom.FromJSON(text)
		}
	}
	w.growth.Events = append(w.growth.Events, e)
}

// valueEvent adds an event with a value to the run's history, unless the run has no history. A value that is too large
// for the run fails where it arises.
func (w *interpreter) valueEvent(typ, name, key string, value *jsonValue) {
	e := grow.Event{Type: typ, Name: name}
	if !w.ask.Quiet {
		if body, f := value.encoded(); f == nil {
			e.Key, e.Body = key, body
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
