package worker

import (
	"context"
	"encoding/json"
)

// Typed returns the Func of a task whose input is an In. undo undoes it, and may be nil if there is nothing to undo. If
// the input is not an In, nothing is called, and the failure, Ebb.BadInput, is final.
func Typed[In, Out any](
	do func(ctx context.Context, t *Task, in In) (Out, error), undo func(ctx context.Context, t *Task, in In) error,
) Func {
	return func(ctx context.Context, t *Task) (any, error) {
		var in In
		if err := json.Unmarshal(t.Input, &in); err != nil && t.Input != nil {
			return nil, Final(Errorf("Ebb.BadInput", "the input of %s: %v", t.Kind, err))
		}
		switch {
		case t.Revert == nil:
			return do(ctx, t, in)
		case undo == nil:
			return nil, nil
		default:
			return nil, undo(ctx, t, in)
		}
	}
}
