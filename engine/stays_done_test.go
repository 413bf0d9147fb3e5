package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// charges returns a task without Revert that takes a while.
func charges(name string, takes time.Duration, opts ...atom.Option) *atom.Atom {
	return atom.Func(name, func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-time.After(takes):
			return name, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, opts...)
}

// stays is work that nothing reverts.
func stays(name string) grow.Spec {
	return grow.Spec{Name: name, Task: "do:" + name, Undo: &grow.Undo{Stays: true}}
}

// statuses returns the statuses of a run's atoms, and of its steps in the views.
func statuses(t *testing.T, store backend.Store, run string) (stored, shown []string) {
	t.Helper()
	atoms, err := store.Atoms(t.Context(), run, storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range atoms {
		if atoms[i].Path != flow.GrowingPath {
			stored = append(stored, atoms[i].Path+" "+string(atoms[i].Status()))
		}
	}
	head, err := store.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := inspect.Recorded(t.Context(), store, &head, nil)
	if err != nil {
		t.Fatal(err)
	}
	steps, _ := tree.Top.Shown()
	for _, s := range steps {
		shown = append(shown, s.Path+" "+string(s.Status()))
	}
	slices.Sort(shown)
	return stored, shown
}

func wantStatuses(t *testing.T, store backend.Store, run, undo string, want ...string) {
	t.Helper()
	slices.Sort(want)
	stored, shown := statuses(t, store, run)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("status of the records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("status of the steps (-want +got):\n%s", diff)
	}
	head, err := store.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	u, err := inspect.UndoOf(t.Context(), store, &head)
	if err != nil || u.String() != undo {
		t.Errorf("undo %q, %v; want %q", u.String(), err, undo)
	}
}

// TestStaysDone: the effect of a task without Revert stays done if the run is undone, and all views say so. TaskFlow's
// states do not change.
func TestStaysDone(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"ship": alwaysFails}}
		var seen []string
		watch := engine.WithObserver(func(ev engine.Event) {
			if ev.Kind == engine.WorkStays {
				seen = append(seen, ev.Path+" "+ev.From+" "+ev.To)
			}
		})
		eng := newEngine(t, flow.Linear("f",
			charges("charge", time.Second), charges("count", time.Second, atom.NoEffect()), s.atom("reserve"), s.atom("ship"),
		), append(opts, watch)...)
		res, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
		wantStates(t, eng.Store(), "r", "charge REVERTED", "count REVERTED", "reserve REVERTED", "ship REVERTED")
		wantStatuses(t, eng.Store(), "r", "undone 2, stays done 1: charge",
			"charge STAYS_DONE", "count SUCCESS", "reserve REVERTED", "ship REVERTED")
		if got := strings.Join(seen, ","); got != "charge REVERTED STAYS_DONE" {
			t.Errorf("observers were told %q", got)
		}
	})
}

// TestMayStayDone: if it is unknown whether a task without Revert had its effect, it may stay done. A task that
// returned a failure has failed.
func TestMayStayDone(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		fails := atom.Func("fails", func(context.Context, struct{}) (string, error) {
			time.Sleep(time.Minute)
			return "", errRefused
		})
		eng := newEngine(t, flow.Linear("f", s.atom("a"), flow.Unordered("side",
			charges("slow", time.Hour, atom.Timeout(time.Second)), fails,
		)), opts...)
		_, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		wantStatuses(t, eng.Store(), "r", "undone 1, may stay done 1: slow", "a REVERTED", "fails FAILURE", "slow MAY_STAY_DONE")
	})
}

// TestStaysDoneOfEarlier: a retry repeats a task without Revert. Its earlier effect stays done.
func TestStaysDoneOfEarlier(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": failsOnce}}
		eng := newEngine(t, flow.Linear("f", charges("charge", time.Second), s.atom("b")).WithRetry(atom.Times(2, atom.Backoff{}).Renamed("again")), opts...)
		_, err := eng.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		wantStatuses(t, eng.Store(), "r", "undone 1, stays done 1: charge", "again SUCCESS", "b SUCCESS", "charge SUCCESS")
	})
}

// TestStaysDoneGrowing is TestStaysDone for a language. A point of no return, and the atom to which an operator
// reverts, bound what the undo passes.
func TestStaysDoneGrowing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		pivot := stays("p")
		pivot.Pivot = true
		for id, c := range map[string]struct {
			specs []grow.Spec
			end   storage.Undone
			undo  string
			want  []string
		}{
			"all": {
				[]grow.Spec{stays("a"), work("b"), stays("c")},
				storage.UndoneAll,
				"undone 1, stays done 2: c, a",
				[]string{"a STAYS_DONE", "b REVERTED", "c STAYS_DONE"},
			},
			"pivot": {
				[]grow.Spec{stays("a"), work("b"), pivot, stays("c")},
				storage.UndonePart,
				"undone 0, stays done 1: c",
				[]string{"a SUCCESS", "b SUCCESS", "c STAYS_DONE", "p SUCCESS"},
			},
			"nothing": {
				[]grow.Spec{stays("a")},
				storage.UndoNone,
				"undone 0, stays done 1: a",
				[]string{"a STAYS_DONE"},
			},
		} {
			eng := newEngine(t, flow.Growing("f", chain(c.specs...)), append(opts, engine.WithTasks(parts{&stage{}}))...)
			res, _ := eng.Run(t.Context(), id)
			left, err := eng.Store().Undos(t.Context(), id, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			pivots, err := inspect.PivotsIn(t.Context(), eng.Store(), id, left)
			if err != nil || pivots["p"] != (id == "pivot") || len(pivots) > 1 {
				t.Errorf("%s: of %v, points of no return are %v, %v", id, left, pivots, err)
			}
			if res.Run.Undo != c.end {
				t.Errorf("%s: undo %v; want %v", id, res.Run.Undo, c.end)
			}
			wantStatuses(t, eng.Store(), id, c.undo, c.want...)
		}
	})
}

// TestPreviewStaysDone lists what a command would revert, and what stays done. Then exactly that happens.
func TestPreviewStaysDone(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		succeeds := lang(func(ask *grow.Ask) grow.Growth {
			growth := chain(stays("a"), work("b"), stays("c"), work("d"), work("e")).Grow(ask)
			if growth.End != nil {
				growth.End = &grow.End{}
			}
			return growth
		})
		s := &stage{}
		for name, root := range map[string]flow.Node{
			"grown":   flow.Growing("f", succeeds),
			"planned": flow.Linear("f", charges("a", 0), s.atom("b"), charges("c", 0), s.atom("d"), s.atom("e")),
		} {
			eng := newEngine(t, root, append(opts, engine.WithTasks(parts{s}))...)
			if _, err := eng.Run(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]string{
				"":  "e REVERTED,d REVERTED,c STAYS_DONE,b REVERTED,a STAYS_DONE",
				"b": "e REVERTED,d REVERTED,c STAYS_DONE",
			} {
				o := engine.Cancel("")
				if path != "" {
					o = engine.RevertTo(path)
				}
				var got []string
				for step, err := range eng.Preview(t.Context(), "r", o) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, step.Path+" "+string(step.Status))
				}
				if strings.Join(got, ",") != want {
					t.Errorf("%s to %q: %q; want %q", name, path, got, want)
				}
			}
			if _, err := eng.Command(t.Context(), "r", engine.RevertTo("b")); err == nil {
				t.Errorf("%s: it has not come to rest", name)
			}
			head, err := eng.Store().Run(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			if u, err := inspect.UndoOf(t.Context(), eng.Store(), &head); err != nil || u.String() != "undone 2, stays done 1: c" {
				t.Errorf("%s: %q, %v", name, u.String(), err)
			}
		}
	})
}
