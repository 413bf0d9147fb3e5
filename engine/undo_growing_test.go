package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// chain is a language whose flow is one node after the other. It fails after the last.
func chain(specs ...grow.Spec) lang {
	return func(ask *grow.Ask) grow.Growth {
		next := 0
		switch c := &ask.Cause; c.Kind {
		case grow.Begin:
		case grow.Ended:
			for i := range specs {
				if specs[i].Name == c.Name {
					next = i + 1
				}
			}
		default:
			return failure(c.Failure)
		}
		if next == len(specs) {
			return failure(&atom.Failure{Code: "TooBad"})
		}
		return add(specs[next])
	}
}

// TestPivotGrowing passes a point of no return in a language.
func TestPivotGrowing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		pivot := work("b")
		pivot.Pivot = true
		for _, c := range []struct {
			specs []grow.Spec
			acts  string
		}{
			{[]grow.Spec{work("a"), pivot, work("c"), work("d")}, "a b c d,undo d done,undo c done"},
			{[]grow.Spec{work("a"), pivot}, "a b"},
		} {
			s := &stage{}
			eng := newEngine(t, flow.Growing("f", chain(c.specs...)), append(opts, engine.WithTasks(parts{s}))...)
			res, err := eng.Run(t.Context(), "r")
			failed(t, err)
			wantEnd(t, res, "FAILURE", storage.FailedOutcome, storage.UndonePart)
			got := strings.ReplaceAll(strings.Join(s.took(), ","), ",b", " b")
			got = strings.ReplaceAll(strings.ReplaceAll(got, ",c", " c"), ",d", " d")
			if got != c.acts {
				t.Errorf("acts %q; want %q", got, c.acts)
			}
		}
	})
}

// TestPolicyGrowing applies the policy of a language's task for a failing revert.
func TestPolicyGrowing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		run := func(p atom.RevertPolicy, undo func(ctx context.Context, n int) error) (*engine.Engine, *stage, *engine.Result, error) {
			s := &stage{undo: script{"undo b": undo}}
			b := work("b")
			b.Undo.Policy = p
			eng := newEngine(t, flow.Growing("f", chain(work("a"), b, work("c"))), append(opts, engine.WithTasks(parts{s}))...)
			res, err := eng.Run(t.Context(), "r")
			return eng, s, res, err
		}
		begun := time.Now()
		_, s, res, err := run(atom.RevertPolicy{Attempts: 3, Backoff: atom.Constant(time.Minute)}, func(_ context.Context, n int) error {
			if n < 3 {
				return errRefused
			}
			return nil
		})
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
		wantActs(t, s, "a", "b", "c", "undo c done", "undo b done", "undo b done", "undo b done", "undo a done")
		if took := time.Since(begun); took != 2*time.Minute {
			t.Errorf("it took %v", took)
		}

		_, s, res, err = run(atom.RevertPolicy{Then: atom.GoOnUndoing}, alwaysFails)
		failed(t, err)
		wantEnd(t, res, "FAILURE", storage.FailedOutcome, storage.UndoFailed)
		wantActs(t, s, "a", "b", "c", "undo c done", "undo b done", "undo a done")

		for _, o := range []engine.Command{engine.RetryRevert(""), engine.Skip(""), engine.Abandon("")} {
			eng, s, _, err := run(atom.RevertPolicy{Then: atom.Park}, failsOnce)
			if !errors.Is(err, engine.ErrSuspended) {
				t.Fatalf("got %v; want a parked run", err)
			}
			if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
				t.Fatalf("got %v; running it again changes nothing", err)
			}
			s.took()
			res, err := eng.Command(t.Context(), "r", o)
			switch acts := fmt.Sprint(s.took()); {
			case res.Run.State == states.FlowFailure:
				failed(t, err)
				wantEnd(t, res, "FAILURE", storage.Cancelled, storage.UndoFailed)
			case strings.HasPrefix(acts, "[undo b"):
				reverted(t, err)
			default:
				reverted(t, err)
				if acts != "[undo a done]" {
					t.Errorf("acts %s", acts)
				}
			}
		}
	})
}

// TestSecondNodeOfName lets a language give a node the name of one that has ended. If the first one can be undone, the
// run fails with that name, and the first one is undone.
//
// Attack (Runs that grow or compute without end): A Go grower reuses the name of a node that can still be undone.
// Result: The run fails with that name; the first node is undone.
func TestSecondNodeOfName(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		for _, undoable := range []bool{true, false} {
			spec := work("a")
			if !undoable {
				spec.Undo = nil
			}
			twice := lang(func(ask *grow.Ask) grow.Growth {
				n := 0
				if ask.Memory != nil {
					_ = ask.Memory.Decode(&n)
				}
				if n == 2 {
					return done(n)
				}
				g := add(spec)
				g.Memory = atom.MustEncode(n + 1)
				return g
			})
			s := &stage{}
			_, err := newEngine(t, flow.Growing("f", twice), append(opts, engine.WithTasks(parts{s}))...).Run(t.Context(), fmt.Sprint(undoable))
			if !undoable {
				if err != nil {
					t.Error(err)
				}
				continue
			}
			if f := reverted(t, err).Failures[0]; f.Code != atom.CodeLanguage || !strings.Contains(f.Message, `a second node named "a"`) {
				t.Errorf("it failed with %v", f)
			}
			wantActs(t, s, "a", "undo a done")
		}
	})
}
