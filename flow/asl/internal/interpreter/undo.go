package interpreter

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Undo returns what the task that undoes a Task state is given.
func Undo(m *syntax.Machine, ask *flow.UndoAsk) (atom.Value, error) {
	if ask.Spec.Undo == nil {
		return nil, fmt.Errorf("asl: %s has nothing to undo it with", ask.Path)
	}
	s := m.States[ask.Spec.Undo.Note]
	if s == nil || s.Revert == nil || s.Revert.Never {
		return nil, fmt.Errorf("asl: %s: the definition %s has no state %q with a Revert", ask.Path, m.Name, ask.Spec.Undo.Note)
	}
	report := data.Tree(undoReport(ask))
	if s.Revert.Arguments == nil {
		return report.Encoded(), nil
	}
	w := NewInterpreter(m, &flow.Ask{Run: ask.Run, Path: ask.Path, Now: ask.Now, Interrupted: ask.Interrupted})
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

func undoReport(ask *flow.UndoAsk) *jsontext.OrderedMap {
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
