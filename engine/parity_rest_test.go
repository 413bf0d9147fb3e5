package engine_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// resting are the ways in which runs are driven, rest and continue.
var resting = shown{
	"serial": func(t *testing.T, s *stage) {
		play(t, flow.Unordered("f", s.atom("a"), s.atom("b"), s.atom("c")), engine.WithParallelism(1))
		wantActs(t, s, "a", "b", "c")
	},
	"parallel": func(t *testing.T, s *stage) { // with a maximum number at once
		hour := func(context.Context, int) error { time.Sleep(time.Hour); return nil }
		s.do = script{"a": hour, "b": hour, "c": hour, "d": hour}
		begun := time.Now()
		play(t, flow.Unordered("f", s.atom("a"), s.atom("b"), s.atom("c"), s.atom("d")), engine.WithParallelism(2))
		if took := time.Since(begun); took != 2*time.Hour {
			t.Errorf("four hours of work, two at once, took %v", took)
		}
	},
	"executor": func(t *testing.T, s *stage) { // a middleware sends the calls to another place
		pool := make(chan func())
		go func() {
			for call := range pool {
				s.act("in the pool")
				call()
			}
		}()
		defer close(pool)
		send := atom.Wrapper(func(ctx context.Context, next func(context.Context) error) error {
			ended := make(chan error)
			pool <- func() { ended <- next(ctx) }
			return <-ended
		})
		play(t, s.atom("a"), engine.WithMiddleware(send.Around))
		wantActs(t, s, "in the pool", "a")
	},
	"step by step": func(t *testing.T, s *stage) {
		var phases []string
		for phase, err := range newEngine(t, s.atom("a"), inOrder).Steps(t.Context(), "r") {
			if err != nil {
				t.Fatal(err)
			}
			phases = append(phases, phase.String())
		}
		if diff := cmp.Diff([]string{"RESUMING", "SCHEDULING", "WAITING", "ANALYZING", "GAME_OVER", "SUCCESS"}, phases); diff != "" {
			t.Errorf("phases (-want +got):\n%s", diff)
		}
	},
	"many runs in one loop": func(t *testing.T, s *stage) {
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), inOrder)
		var turns []func() (states.Engine, error, bool)
		for _, id := range []string{"one", "two"} {
			next, stop := iter.Pull2(eng.Steps(t.Context(), id))
			defer stop()
			turns = append(turns, next)
		}
		for len(turns) > 0 {
			if _, err, more := turns[0](); err != nil {
				t.Fatal(err)
			} else if turns = append(turns[1:], turns[0]); !more {
				turns = turns[:len(turns)-1]
			}
		}
		wantActs(t, s, "a", "a", "b", "b")
	},
	"suspend and go on": func(t *testing.T, s *stage) {
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")))
		s.do = script{"a": func(context.Context, int) error { eng.Suspend(); return nil }}
		if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
		wantActs(t, s, "a")
		s.do = nil
		play(t, flow.Linear("f", s.atom("a"), s.atom("b")), engine.WithStore(eng.Store()))
		wantActs(t, s, "b")
	},
	"reset": func(t *testing.T, s *stage) {
		eng := newEngine(t, s.atom("a"))
		for range 2 {
			if _, err := eng.Run(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			wantActs(t, s, "a")
			if err := eng.Reset(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		}
	},
	"again after it was undone": func(t *testing.T, s *stage) {
		s.do = script{"b": failsOnce}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")))
		_, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		if _, err := eng.Run(t.Context(), "r", engine.Rerun()); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "a", "b", "undo b failed", "undo a done", "a", "b")
	},
	"one owner": func(t *testing.T, s *stage) { // of this process or another
		store := memstore.New()
		eng := newEngine(t, s.atom("a"), engine.WithStore(store))
		s.do = script{"a": func(ctx context.Context, _ int) error {
			_, err := newEngine(t, s.atom("a"), engine.WithStore(store.Join())).Run(ctx, "r")
			if _, owned := errors.AsType[*storage.OwnedError](err); !owned {
				t.Errorf("a second owner got %v", err)
			}
			return nil
		}}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
	},
	"records": func(t *testing.T, s *stage) {
		store := memstore.New()
		play(t, flow.Linear("f", s.atom("a"), s.atom("b")), engine.WithStore(store))
		wantStates(t, store, "r", "a SUCCESS", "b SUCCESS")
		run, err := store.Run(t.Context(), "r")
		if err != nil || run.Flow != "f" || run.State != states.FlowSuccess || run.Ended.IsZero() {
			t.Errorf("%+v, %v", run, err)
		}
		want := "f PENDING -> RUNNING\na PENDING -> RUNNING\na RUNNING -> SUCCESS\n" +
			"b PENDING -> RUNNING\nb RUNNING -> SUCCESS\nf RUNNING -> SUCCESS\n"
		if diff := cmp.Diff(want, enginetest.Trace(t, store, "r")); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	},
	"search": func(t *testing.T, s *stage) { // by flow, state and labels, page by page; the atoms are loaded when asked for
		store := memstore.New()
		eng := newEngine(t, s.atom("a"), engine.WithStore(store))
		for _, id := range []string{"one", "two", "three"} {
			if _, err := eng.Run(t.Context(), id, engine.Labels(map[string]string{"for": "parity"})); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		var ids []string
		q := storage.RunQuery{Flow: "a", States: []states.Flow{states.FlowSuccess}, Labels: map[string]string{"for": "parity"}, Limit: 2}
		for {
			runs, err := store.Runs(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(runs) == 0 {
				break
			}
			for i := range runs {
				ids = append(ids, runs[i].ID)
			}
			q.After = &runs[len(runs)-1]
		}
		if diff := cmp.Diff([]string{"three", "two", "one"}, ids); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	},
	"purge": func(t *testing.T, s *stage) {
		store := memstore.New()
		play(t, s.atom("a"), engine.WithStore(store))
		if n, err := store.Purge(t.Context(), "r"); n != 1 || err != nil {
			t.Errorf("purged %d, %v", n, err)
		}
	},
	"store that fails in passing": func(t *testing.T, s *stage) {
		store := &asleep{Store: memstore.New()}
		play(t, flow.Linear("f", s.atom("a"), s.atom("b")), engine.WithStore(store))
		wantActs(t, s, "a", "b")
	},
	"resume after a crash": func(t *testing.T, s *stage) { // recorded work is not repeated
		store := memstore.New()
		root := flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c"))
		if _, err := newEngine(t, root, engine.WithStore(enginetest.DieAt(store.Join(), 2))).Run(t.Context(), "r"); !errors.Is(err, storage.ErrClosed) {
			t.Fatal(err)
		}
		wantActs(t, s, "a", "b")
		play(t, root, engine.WithStore(store))
		wantActs(t, s, "b", "c")
	},
	"history of a retry after a crash": func(t *testing.T, s *stage) { // TaskFlow hands out a used value again
		store := memstore.New()
		build := func() flow.Node {
			return flow.Linear("f", s.show("a", atom.Requires("host")), s.atom("b")).WithRetry(atom.ForEach("one", "two", "three").As("host"))
		}
		s.do = script{"b": alwaysFails}
		var err error
		for n := 2; err == nil || errors.Is(err, storage.ErrClosed); n = 3 {
			_, err = newEngine(t, build(), engine.WithStore(enginetest.DieAt(store.Join(), n))).Run(t.Context(), "r")
		}
		reverted(t, err)
		acts := slices.DeleteFunc(s.took(), func(act string) bool { return !strings.HasPrefix(act, "a ") })
		if diff := cmp.Diff([]string{`a host="one"`, `a host="two"`, `a host="three"`}, slices.Compact(acts)); diff != "" {
			t.Errorf("tried (-want +got):\n%s", diff)
		}
	},
	"changed flow": func(t *testing.T, s *stage) { // is refused, unless the change is accepted, or the earlier flow is at hand
		v1, v2 := flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")), flow.Linear("f", s.atom("b"), s.atom("d"))
		for _, how := range []string{"accept", "earlier"} {
			store := half(t, s, v1)
			if _, err := newEngine(t, v2, engine.WithStore(store)).Run(t.Context(), "r"); !errors.Is(err, engine.ErrChanged) {
				t.Fatalf("got %v", err)
			}
			if how == "accept" {
				if _, err := newEngine(t, v2, engine.WithStore(store)).Run(t.Context(), "r", engine.AcceptChange("a")); err != nil {
					t.Fatal(err)
				}
				wantActs(t, s, "d")
			} else {
				play(t, v2, engine.WithStore(store), engine.WithCatalog(engine.Flows(v1)))
				wantActs(t, s, "c")
			}
		}
	},
	"version": func(t *testing.T, s *stage) { // another version is another flow
		build := func(version string) flow.Node {
			return flow.Linear("f", s.atom("a", atom.Version(version)), s.atom("b"), s.atom("c"))
		}
		next := newEngine(t, build("2"), engine.WithStore(half(t, s, build("1"))))
		if _, err := next.Run(t.Context(), "r"); !errors.Is(err, engine.ErrChanged) {
			t.Errorf("got %v", err)
		}
	},
}

// asleep is a store whose first three commits fail.
type asleep struct {
	backend.Store
	n int
}

func (f *asleep) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	if f.n++; f.n <= 3 {
		return errors.New("the disk is asleep")
	}
	return f.Store.Commit(ctx, c, cp)
}
