package interpreter

import (
	"fmt"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jq"
)

// Undo returns the input of the function that undoes a call.
func Undo(m *syntax.Machine, ask *grow.UndoAsk) (atom.Value, error) {
	if ask.Spec.Undo == nil {
		return nil, fmt.Errorf("sm4c: %s has nothing to undo it with", ask.Path)
	}
	number, err := strconv.Atoi(ask.Spec.Undo.Note)
	if err != nil || number < 0 || number >= len(m.Actions) || m.Actions[number].Revert == nil {
		return nil, fmt.Errorf("sm4c: %s: the definition %s has no action %q with a revert", ask.Path, m.Name,
			ask.Spec.Undo.Note)
	}
	report, err := undoReport(ask)
	if err != nil {
		return nil, fmt.Errorf("sm4c: %s: %w", ask.Path, err)
	}
	input := any(report)
	if args := m.Actions[number].Revert.Arguments; args != nil {
		var f *stateerror.Error
		if input, f = args.Resolve(ask.Interrupted, report["arguments"], report["result"]); f != nil {
			return nil, fmt.Errorf("sm4c: %s: revert: %s", ask.Path, f.Message)
		}
	}
	text, err := jq.Encode(input, atom.MaxValue-1)
	if err != nil {
		return nil, fmt.Errorf("sm4c: %s: revert: %w", ask.Path, err)
	}
	return atom.FromJSON(text), nil
}

func undoReport(ask *grow.UndoAsk) (map[string]any, error) {
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
			report["error"] = stateerror.Function(failure).Object(max(failure.Attempt, 1))
		}
	}
	return report, nil
}
