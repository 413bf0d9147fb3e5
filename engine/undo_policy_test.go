package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// TestRevertAgain retries a failed revert after a while.
func TestRevertAgain(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		third := func(_ context.Context, n int) error {
			if n < 3 {
				return errRefused
			}
			return nil
		}
		s := &stage{do: script{"c": alwaysFails}, undo: script{"undo b done": nil, "b": third}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b", atom.RevertAttempts(3, atom.Exponential(time.Minute, 0))), s.atom("c")), opts...)
		begun := time.Now()
		res, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
		wantActs(t, s, "a", "b", "c", "undo c failed", "undo b done", "undo b done", "undo b done", "undo a done")
		if took := time.Since(begun); took != 3*time.Minute {
			t.Errorf("it waited %v between the attempts; want 1 and 2 minutes", took)
		}
	})
}

// TestRevertFailsAndStops checks TaskFlow's policy, and how an operator continues.
func TestRevertFailsAndStops(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"c": alwaysFails}, undo: script{"b": failsOnce}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")), opts...)
		for id, mend := range map[string]engine.Command{"again": engine.RetryRevert(""), "skip": engine.Skip("b"), "cancel": engine.RetryRevert("b")} {
			s.calls = nil
			res, err := eng.Run(t.Context(), id)
			failed(t, err)
			wantEnd(t, res, "FAILURE", storage.FailedOutcome, storage.UndoFailed)
			wantStates(t, eng.Store(), id, "a SUCCESS", "b REVERT_FAILURE", "c REVERTED")
			wantActs(t, s, "a", "b", "c", "undo c failed", "undo b done")
			res, err = eng.Command(t.Context(), id, mend)
			reverted(t, err)
			wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
			if id == "skip" {
				wantActs(t, s, "undo a done")
			} else {
				wantActs(t, s, "undo b done", "undo a done")
			}
			if _, err := eng.Command(t.Context(), id, mend); !errors.Is(err, engine.ErrRefused) {
				t.Errorf("what had not failed was mended: %v", err)
			}
		}
	})
}

// TestRevertFailsAndGoesOn undoes the other atoms nevertheless.
func TestRevertFailsAndGoesOn(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"c": alwaysFails}, undo: script{"b": alwaysFails}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b", atom.IfRevertFails(atom.GoOnUndoing)), s.atom("c")), opts...)
		res, err := eng.Run(t.Context(), "r")
		if e := failed(t, err); !e.UndoFailed {
			t.Error("it is not said that undoing failed")
		}
		wantEnd(t, res, "FAILURE", storage.FailedOutcome, storage.UndoFailed)
		wantActs(t, s, "a", "b", "c", "undo c failed", "undo b done", "undo a done")
		wantStates(t, eng.Store(), "r", "a REVERTED", "b REVERT_FAILURE", "c REVERTED")
	})
}

// TestRevertFailsAndParks lets a person decide.
//
// Guarantee (G4): A run whose undo failed needs a person. Listing, JSON, log and exit status 4 say so until that person
// decides.
// Also: `cmd/ebb: TestScripts/person`.
func TestRevertFailsAndParks(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"c": alwaysFails}, undo: script{"b": failsOnce}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b", atom.IfRevertFails(atom.Park)), s.atom("c")), opts...)
		for id, o := range map[string]engine.Command{"again": engine.RetryRevert("b"), "skip": engine.Skip("b"), "abandon": engine.Abandon("leave it")} {
			s.calls = nil
			for range 2 { // running the run again changes nothing
				res, err := eng.Run(t.Context(), id)
				if !errors.Is(err, engine.ErrSuspended) || !res.Run.Hold || res.Run.Failure == nil {
					t.Fatalf("got %v, hold %t, failure %v; want a parked run", err, res.Run.Hold, res.Run.Failure)
				}
				if !res.Run.NeedsPerson() || res.Run.Undo != storage.UndoFailed {
					t.Errorf("undo %v; want a run that needs a person", res.Run.Undo)
				}
			}
			wantActs(t, s, "a", "b", "c", "undo c failed", "undo b done")
			res, err := eng.Command(t.Context(), id, o)
			if res.Run.NeedsPerson() != (id == "abandon") {
				t.Errorf("%s: it still needs a person", id)
			}
			switch id {
			case "again":
				reverted(t, err)
				wantActs(t, s, "undo b done", "undo a done")
			case "skip":
				reverted(t, err)
				wantActs(t, s, "undo a done")
			case "abandon":
				failed(t, err)
				wantEnd(t, res, "FAILURE", storage.Cancelled, storage.UndoFailed)
				wantActs(t, s)
			}
		}
	})
}

// TestRevertTimeout gives a revert its own time limit.
func TestRevertTimeout(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": alwaysFails}, undo: script{"a": untilCancelled}}
		eng := newEngine(t, flow.Linear("f", s.atom("a", atom.RevertTimeout(time.Minute)), s.atom("b")), opts...)
		begun := time.Now()
		_, err := eng.Run(t.Context(), "r")
		failed(t, err)
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

// TestPivot passes a point of no return. The atoms before it stay done.
//
// Guarantee (G4): Nothing before a passed pivot is undone.
// Also: `TestPivotWithinRetry`, `TestPivotGrowing`.
func TestPivot(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"d": alwaysFails}}
		root := flow.Linear("f",
			s.atom("a"), s.atom("b", atom.Pivot()), flow.Linear("g", s.atom("c"), s.atom("d")).WithRetry(atom.Times(2, atom.Backoff{})))
		eng := newEngine(t, root, opts...)
		res, err := eng.Run(t.Context(), "r")
		failed(t, err)
		wantEnd(t, res, "FAILURE", storage.FailedOutcome, storage.UndonePart)
		wantActs(t, s, "a", "b", "c", "d", "undo d failed", "undo c done", "c", "d", "undo d failed", "undo c done")
		wantStates(t, eng.Store(), "r", "a SUCCESS", "b SUCCESS", "c REVERTED", "d REVERTED", "g_retry REVERTED")

		if _, err := eng.Command(t.Context(), "r", engine.RetryFrom("a")); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("went back before the point of no return: %v", err)
		}
		s.do = nil
		if _, err := eng.Command(t.Context(), "r", engine.RetryFrom("")); err != nil {
			t.Errorf("did not go forward from the point of no return: %v", err)
		}

		s.took()
		s.do = script{"b": alwaysFails}
		res, err = eng.Run(t.Context(), "before")
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
		wantActs(t, s, "a", "b", "undo b failed", "undo a done")
	})
}

// TestPivotWithinRetry: a retry cannot undo what came before a point of no return inside its own flow.
func TestPivotWithinRetry(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"c": alwaysFails}}
		root := flow.Linear("f", s.atom("a"), s.atom("b", atom.Pivot()), s.atom("c")).WithRetry(atom.Times(3, atom.Backoff{}))
		res, err := newEngine(t, root, opts...).Run(t.Context(), "r")
		failed(t, err)
		wantEnd(t, res, "FAILURE", storage.FailedOutcome, storage.UndonePart)
		wantActs(t, s, "a", "b", "c", "undo c failed")
	})
}

// TestAttempts retries one task by itself. Nothing is undone in between.
//
// Guarantee (G2): All attempts of a task carry the same key.
func TestAttempts(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		var keys []string
		s := &stage{do: script{"b": func(ctx context.Context, n int) error {
			if n <= 3 {
				keys = append(keys, atom.IdempotencyKey(ctx))
			}
			if a := atom.Attempt(ctx); n <= 3 && a != n {
				t.Errorf("call %d is attempt %d", n, a)
			}
			switch n {
			case 1, 2:
				return errRefused
			case 3:
				return nil
			default:
				return errors.New("no code")
			}
		}}}
		root := flow.Linear("f", s.atom("a"), s.atom("b", atom.Attempts(5, atom.Exponential(time.Minute, 0), "Refused")))
		eng := newEngine(t, root, opts...)
		begun := time.Now()
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "a", "b", "b", "b")
		if took := time.Since(begun); took != 3*time.Minute {
			t.Errorf("it waited %v between the attempts; want 1 and 2 minutes", took)
		}
		if diff := cmp.Diff([]string{"r/b/0", "r/b/0", "r/b/0"}, keys); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
		_, err := eng.Run(t.Context(), "other")
		reverted(t, err) // of another code
		wantActs(t, s, "a", "b", "undo b failed", "undo a done")
	})
}

// TestAttemptsSurvive suspends a run between two attempts.
//
// Guarantee (Waiting and time): A wait survives a process stop, and ends on time.
// Also: `TestDeferredSurvives`, `TestRetryWaits`.
func TestAttemptsSurvive(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"a": failsOnce}}
		root := func() flow.Node { return s.atom("a", atom.Attempts(2, atom.Constant(time.Hour))) }
		eng := newEngine(t, root(), opts...)
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := eng.Run(ctx, "r"); !errors.Is(err, engine.ErrStopped) {
			t.Fatal(err)
		}
		wantStates(t, eng.Store(), "r", "a RETRYING")
		if _, err := newEngine(t, root(), append(opts, engine.WithStore(eng.Store()))...).Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("the second attempt came after %v", took)
		}
		wantActs(t, s, "a", "a")
	})
}

// TestRevertDelayed informs observers of each failed attempt of a revert that is retried, for planned atoms and for
// those of a language.
func TestRevertDelayed(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"c": alwaysFails}, undo: script{"b": func(_ context.Context, n int) error {
			if n < 3 {
				return errRefused
			}
			return nil
		}}}
		s.undo["undo b"] = s.undo["b"]
		policy := atom.RevertPolicy{Attempts: 3, Backoff: atom.Exponential(time.Minute, 0)}
		flows := map[string]flow.Node{
			"plan": flow.Linear("f", s.atom("b", atom.RevertAttempts(3, policy.Backoff)), s.atom("c")),
			"language": flow.Growing("f", inTurn{
				{Name: "b", Kind: grow.Work, Task: "do:b", Undo: &grow.Undo{Task: "do:undo b", Policy: policy}},
				{Name: "c", Kind: grow.Work, Task: "do:c"},
			}),
		}
		for name, root := range flows {
			s.calls = nil
			var told []string
			begun := time.Now()
			eng := newEngine(t, root, append(opts, engine.WithTasks(parts{s}), engine.WithObserver(func(ev engine.Event) {
				if ev.Kind == engine.RevertDelayed {
					told = append(told, fmt.Sprint(ev.Path, " ", ev.To, " ", ev.Attempt, " ", ev.Failure.Code, " ", ev.Due.Sub(begun)))
				}
			}))...)
			_, err := eng.Run(t.Context(), name)
			_ = reverted(t, err)
			if diff := cmp.Diff([]string{"b REVERTING 1 Refused 1m0s", "b REVERTING 2 Refused 3m0s"}, told); diff != "" {
				t.Errorf("%s: told (-want +got):\n%s", name, diff)
			}
		}
	})
}
