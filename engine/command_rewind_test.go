package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// TestRevertTo takes runs back to an atom, and then forward again.
func TestRevertTo(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")), opts...)
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		s.took()
		undone, err := previewed(t, eng, "r", engine.RevertTo("a"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"c", "b"}, undone); diff != "" {
			t.Errorf("preview (-want +got):\n%s", diff)
		}
		wantActs(t, s)
		res, err := eng.Command(t.Context(), "r", engine.RevertTo("a"))
		if !errors.Is(err, engine.ErrSuspended) || !res.Run.Hold {
			t.Fatal(err)
		}
		wantActs(t, s, "undo c done", "undo b done")
		wantStates(t, eng.Store(), "r", "a SUCCESS", "b PENDING", "c PENDING")
		res, err = eng.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		wantEnd(t, res, "SUCCESS", storage.Succeeded, storage.UndoNone)
		wantActs(t, s, "b", "c")
		if _, err := eng.Command(t.Context(), "r", engine.RevertTo("x")); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("went back to an atom that is not there: %v", err)
		}
	})
}

var amount = atom.NewKey[int]("amount")

// TestRetryFrom continues a run that failed, and was undone, with another input.
func TestRetryFrom(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		pay := atom.Func("pay", func(_ context.Context, in struct {
			Amount int `json:"amount"`
		},
		) (struct{}, error) {
			s.act(fmt.Sprint("pay ", in.Amount))
			if in.Amount > 100 {
				return struct{}{}, errRefused
			}
			return struct{}{}, nil
		})
		eng := newEngine(t, flow.Linear("f", s.atom("a"), pay, s.atom("c")), append(opts, engine.With(amount, 500))...)
		_, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		wantActs(t, s, "a", "pay 500", "undo a done")
		res, err := eng.Command(t.Context(), "r", engine.RetryFrom("", engine.With(amount, 50)))
		if err != nil {
			t.Fatal(err)
		}
		wantEnd(t, res, "SUCCESS", storage.Succeeded, storage.UndoNone)
		wantActs(t, s, "a", "pay 50", "c")
		if res.Run.Failure != nil {
			t.Errorf("the run still has the failure %v", res.Run.Failure)
		}
		run, err := eng.Store().Run(t.Context(), "r")
		if err != nil || run.Input.Data.String() != `{"amount":50}` {
			t.Errorf("the run's input is %s: %v", run.Input.Data, err)
		}
		_, err = eng.Command(t.Context(), "r", engine.RetryFrom("pay"))
		if err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "undo c done", "pay 50", "c")
	})
}

// TestRetryFromKeepsWhatWasDone continues a run that failed without an undo at the point of the failure.
func TestRetryFromKeepsWhatWasDone(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": failsOnce}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")).WithFailurePolicy(flow.LeaveFailed), opts...)
		_, err := eng.Run(t.Context(), "r")
		failed(t, err)
		wantActs(t, s, "a", "b")
		if _, err = eng.Command(t.Context(), "r", engine.RetryFrom("")); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "undo b failed", "b", "c")
	})
}
