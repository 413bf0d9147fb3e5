package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// backing is a language that executes a, b and c, one after the other, undoes what came after a, and then executes d.
// It ends with the events that it heard.
func backing(specs ...grow.Spec) lang {
	return func(ask *grow.Ask) grow.Growth {
		switch c := &ask.Cause; c.Kind {
		case grow.Begin:
			return add(specs[0])
		case grow.Ended:
			for i := range specs {
				switch {
				case specs[i].Name != c.Name:
				case i+1 < len(specs):
					return add(specs[i+1])
				default:
					return grow.Growth{Undo: &grow.Undoing{To: specs[0].Name, Note: atom.MustEncode("back")}}
				}
			}
			return done(nil)
		case grow.Undone:
			return add(work("d"))
		default:
			return failure(c.Failure)
		}
	}
}

// TestUndoing undoes a part of a run, which then continues.
func TestUndoing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{undo: script{"undo b": failsOnce}}
		b := work("b")
		b.Undo.Policy = atom.RevertPolicy{Attempts: 2, Backoff: atom.Constant(time.Hour)}
		eng := newEngine(t, flow.Growing("f", backing(work("a"), b, work("c"))), append(opts, engine.WithTasks(parts{s}))...)
		begun := time.Now()
		if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatalf("got %v; want that it waits for the next attempt of an undo", err)
		}
		wantStates(t, eng.Store(), "r", "/ RUNNING", "a SUCCESS", "b REVERTING", "c REVERTED")
		res, err := eng.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		wantEnd(t, res, "SUCCESS", storage.Succeeded, storage.UndoNone)
		wantActs(t, s, "a", "b", "c", "undo c done", "undo b done", "undo b done", "d")
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("it took %v", took)
		}
		undone, err := previewed(t, eng, "r", engine.Cancel(""))
		if err != nil || fmt.Sprint(undone) != "[d a]" {
			t.Errorf("left to undo: %v, %v", undone, err)
		}
		res, err = eng.Command(t.Context(), "r", engine.Cancel(""))
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		wantActs(t, s, "undo d done", "undo a done")
	})
}

// TestUndoingFails tells a language that a part of a run cannot be undone, or lets a person decide.
func TestUndoingFails(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		run := func(end atom.RevertEnd, undo func(ctx context.Context, n int) error) (*engine.Engine, *stage, error) {
			s := &stage{undo: script{"undo b": undo}}
			b := work("b")
			b.Undo.Policy.Then = end
			eng := newEngine(t, flow.Growing("f", backing(work("a"), b, work("c"))), append(opts, engine.WithTasks(parts{s}))...)
			_, err := eng.Run(t.Context(), "r")
			return eng, s, err
		}
		_, s, err := run(atom.StopUndoing, alwaysFails)
		if e := failed(t, err); !e.UndoFailed || e.Failures[0].Code != "Refused" {
			t.Errorf("ended with %v", e)
		}
		wantActs(t, s, "a", "b", "c", "undo c done", "undo b done", "undo b done") // once more at the end
		_, s, err = run(atom.GoOnUndoing, alwaysFails)
		failed(t, err)
		wantActs(t, s, "a", "b", "c", "undo c done", "undo b done", "undo a done")

		for o, want := range map[string]string{"retry": "undo b done,d", "skip": "d", "cancel": "undo b done,undo a done"} {
			eng, s, err := run(atom.Park, failsOnce)
			for range 2 {
				if !errors.Is(err, engine.ErrSuspended) {
					t.Fatalf("got %v; want a parked run", err)
				}
				_, err = eng.Run(t.Context(), "r")
			}
			wantActs(t, s, "a", "b", "c", "undo c done", "undo b done")
			_, _ = eng.Command(t.Context(), "r", map[string]engine.Command{"retry": engine.RetryRevert(""), "skip": engine.Skip(""), "cancel": engine.Cancel("")}[o])
			if got := strings.Join(s.took(), ","); got != want {
				t.Errorf("%s: acts %s; want %s", o, got, want)
			}
		}
	})
}

// TestUndoingBeneath undoes entries of the stack below those of concurrent flows.
func TestUndoingBeneath(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		const beside = 200
		branches := lang(func(ask *grow.Ask) grow.Growth {
			name := func(i int) string { return fmt.Sprintf("s%d", i) }
			switch c := &ask.Cause; {
			case ask.Index < 0 && c.Kind == grow.Begin:
				return add(grow.Spec{Name: "g", Kind: grow.Fork, Group: &grow.Group{Count: 2}})
			case ask.Index < 0:
				return failure(&atom.Failure{Code: "TooBad"})
			case c.Kind == grow.Begin:
				return add(work(name(0)))
			case c.Kind == grow.Undone:
				return done(nil)
			case c.Name == "wait":
				return grow.Growth{Undo: &grow.Undoing{}}
			case ask.Index == 0 && c.Name == name(2):
				return add(grow.Spec{Name: "wait", Kind: grow.Timer, Due: ask.Now.Add(time.Hour)})
			case ask.Index == 1 && c.Name == name(beside):
				return done(nil)
			}
			i := 0
			_, _ = fmt.Sscanf(ask.Cause.Name, "s%d", &i)
			return add(work(name(i + 1)))
		})
		s := &stage{}
		eng := newEngine(t, flow.Growing("f", branches), append(opts, engine.WithTasks(parts{s}))...)
		_, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		acts := s.took()
		if len(acts) != 2*(beside+1+3) || strings.Join(acts[beside+4:beside+7], ",") != "undo s2 done,undo s1 done,undo s0 done" {
			t.Errorf("%d acts: %v", len(acts), acts)
		}
	})
}

// TestUndoingSurvives lets the process die at every commit while a part of a run
// is undone.
func TestUndoingSurvives(t *testing.T) {
	t.Parallel()
	for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{}
			b := work("b")
			b.Undo.Policy = atom.RevertPolicy{Attempts: 2, Backoff: atom.Constant(time.Hour)}
			build := func(store backend.Store) *engine.Engine {
				return newEngine(t, flow.Growing("f", backing(work("a"), b, work("c"))), engine.WithTasks(parts{s}), engine.WithStore(store), engine.WithCheckpoints(policy))
			}
			s.undo = script{"undo b": failsOnce}
			res := livesUntil(t, build, func(backend.Store) { time.Sleep(time.Hour) })
			wantEnd(t, res, "SUCCESS", storage.Succeeded, storage.UndoNone)
			var order []string
			for _, act := range s.took() {
				if len(order) == 0 || order[len(order)-1] != act {
					order = append(order, act)
				}
			}
			if got := strings.Join(order, ","); got != "a,b,c,undo c done,undo b done,d" {
				t.Errorf("acts %s", got)
			}
		})
	}
}
