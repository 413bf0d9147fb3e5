package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// TestWrapperFails: an error or a panic of a wrapper is the failure of the task, also after the task's own success. The
// task is then undone, because it may have had its effect in part.
func TestWrapperFails(t *testing.T) {
	t.Parallel()
	after := func(fail func() error) atom.Wrapper {
		return func(ctx context.Context, next func(context.Context) error) error {
			if err := next(ctx); err != nil || atom.CurrentCall(ctx).Revert {
				return err
			}
			return fail()
		}
	}
	for code, fail := range map[string]func() error{
		"Audit.Refused": func() error { return atom.Errorf("Audit.Refused", "not allowed") },
		atom.CodePanic:  func() error { panic("boom") },
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			undone := ""
			a := atom.Pair("a", func(context.Context, struct{}) (int, error) { return 7, nil },
				func(_ context.Context, _ struct{}, did atom.Outcome[int]) error {
					undone = did.String()
					return nil
				}, atom.Wrap(after(fail)))
			res, err := run(t, flow.Linear("f", a))
			reverted, ok := errors.AsType[*engine.RevertedError](err)
			if !ok || len(reverted.Failures) != 1 || reverted.Failures[0].Code != code {
				t.Fatalf("ended with %v", err)
			}
			if undone != "failed" || res.Run.State != states.FlowReverted {
				t.Errorf("undone as %q, the run is %v", undone, res.Run.State)
			}
		})
	}
}
