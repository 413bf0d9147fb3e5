package asl

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A revert says how a Task state is undone: Ebb's addition to the language.
type revert struct {
	resource

	never     bool       // it is a point of no return: nothing to its end is undone
	arguments payload    // nil: the undo task is given the whole report
	retry     []*retrier // one at most
}

// policy returns how often, and when, the undo task is tried again.
func (r *revert) policy() (policy atom.RevertPolicy) {
	for _, retry := range r.retry {
		policy.Attempts = int(min(retry.attempts, maxSeconds)) + 1
		policy.Backoff = atom.Backoff{First: retry.interval, Rate: retry.rate, Max: cmp.Or(retry.most, maxSeconds*time.Second)}
		if retry.jitter == "FULL" {
			policy.Backoff.Jitter = 1
		}
	}
	return policy
}

// Undo returns what the task that undoes a Task state is given. Without
// Parameters that is
//
//	{"Input": …, "Result": …, "Outcome": "Done"}
//
// where Input is the effective input of the task that is undone, Result its
// result or null, and Outcome is Done, Failed or Unknown; a failed one also has
// Error and Cause. Parameters are evaluated with that object as $, Arguments with
// it as $states.input.
func (m *Machine) Undo(ask *flow.UndoAsk) (atom.Value, error) {
	if ask.Spec.Undo == nil {
		return nil, fmt.Errorf("asl: %s has nothing to undo it with", ask.Path)
	}
	s := m.states[ask.Spec.Undo.Note]
	if s == nil || s.revert == nil || s.revert.never {
		return nil, fmt.Errorf("asl: %s: the definition %s has no state %q with a Revert", ask.Path, m.name, ask.Spec.Undo.Note)
	}
	report := treeValue(undoReport(ask))
	if s.revert.arguments == nil {
		return report.encoded(), nil
	}
	w := &interpreter{machine: m, ask: &flow.Ask{Run: ask.Run, Path: ask.Path, Now: ask.Now, Interrupted: ask.Interrupted}, state: s, steps: jsonata.MaxSteps}
	if n, err := readNote(ask.Spec.Note); err == nil {
		w.enteredAt = n.at
	}
	w.input = textValue(report.encoded())
	input, f := s.revert.arguments.of(w.view(w.input))
	if f != nil {
		return nil, fmt.Errorf("asl: %s: Revert: %s", ask.Path, f.cause)
	}
	return input.encoded(), nil
}

func undoReport(ask *flow.UndoAsk) *jsontext.OrderedMap {
	input := ask.Spec.Input
	if input == nil {
		input = atom.Null
	}
	report := jsontext.OrderedMapOf("Input", textValue(input), "Result", nil, "Outcome", "Unknown")
	if result, ok := ask.Did.Done(); ok {
		report.Set("Outcome", "Done")
		if result != nil {
			report.Set("Result", textValue(result))
		}
	}
	if failure, ok := ask.Did.Failed(); ok {
		report.Set("Outcome", "Failed")
		for name, value := range taskError(failure, ask.Spec.Task).output().All() {
			report.Set(name, value)
		}
	}
	return report
}
