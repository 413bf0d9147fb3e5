package sm4c

import (
	"fmt"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jq"
)

// Undo returns the input of the function that undoes a call. Without arguments the
// input is
//
//	{"arguments": …, "result": …, "outcome": "done"}
//
// where arguments are those of the call that is undone, result is its result or
// null, and outcome is done, failed or unknown; of a failed one error is there,
// too. In arguments of a revert, . is the arguments of the call and $value its
// result.
func (m *Machine) Undo(ask *flow.UndoAsk) (atom.Value, error) {
	if ask.Spec.Undo == nil {
		return nil, fmt.Errorf("sm4c: %s has nothing to undo it with", ask.Path)
	}
	number, err := strconv.Atoi(ask.Spec.Undo.Note)
	if err != nil || number < 0 || number >= len(m.actions) || m.actions[number].revert == nil {
		return nil, fmt.Errorf("sm4c: %s: the definition %s has no action %q with a revert", ask.Path, m.name, ask.Spec.Undo.Note)
	}
	report, err := undoReport(ask)
	if err != nil {
		return nil, fmt.Errorf("sm4c: %s: %w", ask.Path, err)
	}
	input := any(report)
	if args := m.actions[number].revert.arguments; args != nil {
		var f *stateError
		if input, f = args.resolve(ask.Interrupted, report["arguments"], report["result"]); f != nil {
			return nil, fmt.Errorf("sm4c: %s: revert: %s", ask.Path, f.message)
		}
	}
	text, err := jq.Encode(input, atom.MaxValue-1)
	if err != nil {
		return nil, fmt.Errorf("sm4c: %s: revert: %w", ask.Path, err)
	}
	return atom.FromJSON(text), nil
}

func undoReport(ask *flow.UndoAsk) (map[string]any, error) {
	report := map[string]any{"arguments": nil, "result": nil, "outcome": "unknown"}
	result, done := ask.Did.Done()
	for name, value := range map[string]atom.Value{"arguments": ask.Spec.Input, "result": result} {
		if len(value) == 0 {
			continue
		}
		tree, err := jq.Decode(value.JSON())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		report[name] = tree
	}
	if done {
		report["outcome"] = "done"
	}
	if failure, failed := ask.Did.Failed(); failed {
		report["outcome"] = "failed"
		if failure != nil {
			report["error"] = functionError(failure).object(max(failure.Attempt, 1))
		}
	}
	return report, nil
}
