package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// half runs a flow until its atom b has ended, and returns the store.
func half(t *testing.T, s *stage, root flow.Node, opts ...engine.Option) backend.Store {
	t.Helper()
	eng := newEngine(t, root, opts...)
	before := s.do
	s.do = script{"b": func(context.Context, int) error { eng.Suspend(); return nil }}
	defer func() { s.do = before }()
	if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
		t.Fatal(err)
	}
	wantActs(t, s, "a", "b")
	return eng.Store()
}

// TestAcceptedChangeInHistory: the history says what an accepted change changed, and who accepted it.
func TestAcceptedChangeInHistory(t *testing.T) {
	t.Parallel()
	s := &stage{}
	store := half(t, s, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")))
	added := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("new"), s.atom("c")), engine.WithStore(store))
	if _, err := added.Run(t.Context(), "r", engine.AcceptChange()); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for e, err := range storage.EachEntry(t.Context(), store, "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == storage.EntryCommand {
			lines = append(lines, e.Type+", "+e.Path+", "+e.Issuer.String())
		}
	}
	if diff := cmp.Diff([]string{`accept-change, added: "new", unnamed caller (library)`}, lines); diff != "" {
		t.Error(diff)
	}
}

// TestAcceptChange continues a run with a flow whose atoms differ from those of the flow on which the run started.
//
// Guarantee (G7): Ebb refuses a run whose flow changed structure, and executes nothing.
// Also: `TestChangedFlow` (an ended run).
//
// Guarantee (G7): A run whose flow changed structure continues only on request, and forgets an atom that did something
// only if that is named.
// Also: `TestAcceptChangeForgets`.
func TestAcceptChange(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		store := half(t, s, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")), opts...)
		opts = append(opts, engine.WithStore(store))

		added := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("new"), s.atom("d")), opts...)
		if _, err := added.Run(t.Context(), "r"); !errors.Is(err, engine.ErrChanged) {
			t.Fatalf("a changed flow was gone on with: %v", err)
		}
		removed := newEngine(t, flow.Linear("f", s.atom("b"), s.atom("d")), opts...)
		if _, err := removed.Run(t.Context(), "r", engine.AcceptChange()); !errors.Is(err, engine.ErrChanged) || !strings.Contains(err.Error(), `atom "a" was removed and is SUCCESS`) {
			t.Fatalf("an atom that did something was forgotten unasked: %v", err)
		}
		if _, err := removed.Run(t.Context(), "r", engine.AcceptChange("a", "typo")); !errors.Is(err, engine.ErrChanged) || !strings.Contains(err.Error(), `no atom "typo"`) {
			t.Fatalf("an unknown atom was forgotten: %v", err)
		}
		other := newEngine(t, flow.Linear("f", flow.Linear("g", s.atom("x")).WithRetry(atom.Times(2, atom.Backoff{}).Renamed("b"))), opts...)
		if _, err := other.Run(t.Context(), "r", engine.AcceptChange("a")); !errors.Is(err, engine.ErrChanged) {
			t.Fatalf("a task became a retry: %v", err)
		}
		wantActs(t, s)
		if _, err := added.Run(t.Context(), "r", engine.AcceptChange()); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "new", "d")
		if _, err := added.Run(t.Context(), "r"); err != nil {
			t.Errorf("the run does not belong to the new flow: %v", err)
		}
	})
}

func TestAcceptChangeForgets(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"d": alwaysFails}}
		store := half(t, s, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")), opts...)
		eng := newEngine(t, flow.Linear("f", s.atom("b"), s.atom("d")), append(opts, engine.WithStore(store))...)
		_, err := eng.Run(t.Context(), "r", engine.AcceptChange("a", "c")) // the run has not reached c
		reverted(t, err)
		wantActs(t, s, "d", "undo d failed", "undo b done")
		wantStates(t, store, "r", "b REVERTED", "d REVERTED")
	})
}

// TestEarlierFlow ends a run on the version on which it started.
//
// Guarantee (G7): A run ends on the version it started on, if that is named as an earlier version.
func TestEarlierFlow(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		v1 := func() flow.Node { return flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")) }
		store := half(t, s, v1(), opts...)
		eng := newEngine(t, flow.Linear("f", s.atom("z")), append(opts, engine.WithStore(store), engine.WithCatalog(engine.Flows(v1())))...)
		for range 2 {
			if _, err := eng.Run(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		}
		wantActs(t, s, "c")
		if _, err := eng.Run(t.Context(), "new"); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "z")
	})
}

// TestFlows drives runs of several flows. Flows with the same structure are distinguished by name, and mistakes in one
// are reported before anything runs.
func TestFlows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := &stage{}, memstore.New()
		build := func(name string, atoms ...string) flow.Node {
			f := flow.Linear(name)
			for _, a := range atoms {
				f.Add(atom.Func(a, func(context.Context, struct{}) (int, error) { s.act(name + " " + a); return 0, nil }))
			}
			return f
		}
		for _, f := range []flow.Node{build("f", "a"), build("g", "a"), build("f", "b"), build("stranger", "a")} {
			eng := newEngine(t, f, engine.WithStore(store))
			if err := eng.Start(t.Context(), f.Name()+" "+eng.Plan().Atoms[0].Name()); err != nil {
				t.Fatal(err)
			}
		}
		server, err := engine.NewServer(engine.Flows(build("f", "b"), build("f", "a"), build("g", "a")), store, engine.WithSlots(1))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if err := server.Serve(ctx); err != nil {
			t.Error(err)
		}
		slices.Sort(s.acts)
		wantActs(t, s, "f a", "f b", "g a")
	})
	for _, wrong := range []flow.Node{nil, flow.Linear("f", atom.Func("a", noop), atom.Func("a", noop))} {
		if _, err := engine.New(flow.Linear("f"), memstore.New(), engine.WithCatalog(engine.Flows(wrong))); !errors.As(err, new(flow.Problems)) {
			t.Errorf("a wrong flow was taken: %v", err)
		}
	}
	unseen := flow.Linear("..", atom.Func("a", noop))
	if _, err := engine.New(unseen, memstore.New()); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("a flow has a name that no path can contain: %v", err)
	}
	if _, err := engine.New(flow.Linear("f"), memstore.New(), engine.WithCatalog(engine.Flows(unseen))); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("a flow of the catalog has a name that no path can contain: %v", err)
	}
}

// TestAgain runs ended runs again.
func TestAgain(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"b": failsOnce}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), opts...)
		_, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		wantActs(t, s, "a", "b", "undo b failed", "undo a done")
		_, err = eng.Run(t.Context(), "r")
		reverted(t, err)
		wantActs(t, s)
		for range 2 { // nothing is left to do the second time
			res, err := eng.Run(t.Context(), "r", engine.Rerun())
			if err != nil {
				t.Fatal(err)
			}
			wantEnd(t, res, "SUCCESS", storage.Succeeded, storage.UndoNone)
		}
		wantActs(t, s, "a", "b")
		if err := eng.Reset(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		wantStates(t, eng.Store(), "r", "a PENDING", "b PENDING")
		run, err := eng.Store().Run(t.Context(), "r")
		if err != nil || run.State != states.FlowPending || run.Outcome != storage.Unfinished || !run.Ended.IsZero() {
			t.Errorf("after the reset: %v, outcome %d, ended %v: %v", run.State, run.Outcome, run.Ended, err)
		}
		if _, err = eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "a", "b")
	})
}

// TestSteps runs phase by phase, as TaskFlow's run_iter yields them, and leaves the loop in between.
func TestSteps(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		root := flow.Linear("f", s.atom("a"), s.atom("b"))
		var phases []string
		eng := newEngine(t, root, engine.WithParallelism(1))
		for phase, err := range eng.Steps(t.Context(), "r") {
			if err != nil {
				t.Fatal(err)
			}
			phases = append(phases, phase.String())
		}
		want := []string{
			"RESUMING", "SCHEDULING", "WAITING", "ANALYZING", "SCHEDULING", "WAITING", "ANALYZING", "GAME_OVER", "SUCCESS",
		}
		if diff := cmp.Diff(want, phases); diff != "" {
			t.Errorf("phases (-want +got):\n%s", diff)
		}
		wantActs(t, s, "a", "b")

		eng = newEngine(t, root, opts...)
		for phase, err := range eng.Steps(t.Context(), "r") {
			if err != nil {
				t.Fatal(err)
			}
			if phase == states.EngineAnalyzing {
				break
			}
		}
		wantActs(t, s, "a")
		run, err := eng.Store().Run(t.Context(), "r")
		if err != nil || run.State != states.FlowSuspended {
			t.Errorf("left in %v: %v", run.State, err)
		}
		var last error
		for _, err := range eng.Steps(t.Context(), "none", engine.Input(atom.MustEncode("no object"))) {
			last = err
		}
		if last == nil {
			t.Error("a run that cannot begin gave no error")
		}
	})
}
