package interpreter

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// An intent is how a level continues after something was undone: with a catcher, or with another attempt.
type intent struct {
	catcher int       // index from 1; 0: another attempt
	name    string    // name of the caught error
	cause   string    // cause of the caught error
	bare    bool      // the error had no name
	due     time.Time // time of the attempt
}

// compensate asks the engine to undo something first. Until then the level waits.
func (w *Interpreter) compensate(what *syntax.Compensation, then *intent) (Step, *stateerror.Error) {
	want := &grow.Undoing{}
	switch {
	case what.Inside:
		want.Under = w.Ask.Cause.Name
	case what.To != nil:
		want.To = nodepath.Visit(nodepath.Escape(what.To.Name), w.visits[what.To.Name])
	}
	n := w.noted(w.remembers())
	n.intent = then
	want.Note = n.encode()
	w.growth.Undo = want
	return Step{Waits: true}, nil
}

// catches leaves the state by a catcher, or undoes something first.
func (w *Interpreter) catches(i int, f *stateerror.Error) (Step, *stateerror.Error) {
	k := w.State.Catch[i]
	w.Machine.Through(k)
	if k.Revert == nil || k.Revert.Inside && !w.attempted {
		return w.Leave(&k.Out, data.Tree(f.Output()))
	}
	return w.compensate(k.Revert, &intent{catcher: i + 1, name: f.Name, cause: f.Cause, bare: f.Bare})
}

// undone continues as the intent says.
func (w *Interpreter) undone(then *intent) (Step, *stateerror.Error) {
	if i := then.catcher - 1; i >= 0 && i < len(w.State.Catch) {
		f := &stateerror.Error{Name: then.name, Cause: then.cause, Bare: then.bare}
		return w.Leave(&w.State.Catch[i].Out, data.Tree(f.Output()))
	}
	return w.anew(then.due)
}

// undoFailed handles the error that a revert failed. Only a catcher that names this error matches, because work
// that is partly undone needs special handling.
func (w *Interpreter) undoFailed(failure *atom.Failure) (Step, *stateerror.Error) {
	f := &stateerror.Error{Name: atom.CodeRevertFailed}
	if failure != nil {
		f.Cause = failure.Code
		if failure.Message != "" {
			f.Cause += ": " + failure.Message
		}
	}
	for i := range w.State.Catch {
		if f.Matches(w.State.Catch[i].Errors, w.Rules().AllMatchesAll) {
			return w.Leave(&w.State.Catch[i].Out, data.Tree(f.Output()))
		}
	}
	return Step{}, f
}

// anew adds another node for the state, which starts at a given time.
func (w *Interpreter) anew(due time.Time) (Step, *stateerror.Error) {
	var spec grow.Spec
	var f *stateerror.Error
	if w.State.Kind == syntax.TaskState {
		spec, f = w.WorkSpec(w.upcoming())
	} else {
		var group *grow.Group
		var told *Shared
		if group, told, f = w.forkGroup(); f == nil {
			group.Shared = told.encode()
		}
		spec = grow.Spec{Kind: grow.Fork, Group: group}
	}
	if f != nil {
		return Step{}, f
	}
	spec.Name, spec.Note, spec.Due = w.visitName(), w.note(true), due
	w.growth.Add = append(w.growth.Add, spec)
	return Step{Waits: true}, nil
}

// Undo returns the input of the task that undoes a Task state.
func Undo(m *syntax.Machine, ask *grow.UndoAsk) (atom.Value, error) {
	if ask.Spec.Undo == nil {
		return nil, fmt.Errorf("asl: %s has nothing to undo it with", ask.Path)
	}
	s := m.States[ask.Spec.Undo.Note]
	if s == nil || !s.Revert.Reverts() {
		return nil, fmt.Errorf("asl: %s: the definition %s has no state %q with a Revert", ask.Path, m.Name,
			ask.Spec.Undo.Note)
	}
	report := data.Tree(undoReport(ask))
	if s.Revert.Arguments == nil {
		return report.Encoded(), nil
	}
	w := NewInterpreter(m, &grow.Ask{Run: ask.Run, Path: ask.Path, Now: ask.Now, Interrupted: ask.Interrupted})
	w.State = s
	if n, err := readNote(ask.Spec.Note); err == nil {
		w.EnteredAt = n.at
	}
	w.Input = data.Text(report.Encoded())
	input, f := s.Revert.Arguments.Of(w.View(w.Input))
	if f != nil {
		return nil, fmt.Errorf("asl: %s: Revert: %s", ask.Path, f.Cause)
	}
	return input.Encoded(), nil
}

func undoReport(ask *grow.UndoAsk) *jsontext.OrderedMap {
	input := ask.Spec.Input
	if input == nil {
		input = atom.Null
	}
	report := jsontext.OrderedMapOf("Input", data.Text(input), "Result", nil, "Outcome", "Unknown")
	if result, ok := ask.Did.Done(); ok {
		report.Set("Outcome", "Done")
		if result != nil {
			report.Set("Result", data.Text(result))
		}
	}
	if failure, ok := ask.Did.Failed(); ok {
		report.Set("Outcome", "Failed")
		for name, value := range stateerror.OfTask(failure, ask.Spec.Task).Output().All() {
			report.Set(name, value)
		}
	}
	return report
}
