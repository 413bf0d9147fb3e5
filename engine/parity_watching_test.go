package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/engine/listen"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage/memstore"
)

// watching are the ways to observe a run.
var watching = shown{
	"progress": func(t *testing.T, s *stage) { // stored with the run, with the task's details
		store := memstore.New()
		a := atom.Func("a", func(ctx context.Context, _ struct{}) (struct{}, error) {
			atom.Progress(ctx, 0.5, map[string]int{"copied": 7})
			return struct{}{}, nil
		})
		told := listen.Progress(func(path string, fraction float64, details atom.Value) {
			s.act(fmt.Sprint(path, " ", fraction, " ", details))
		})
		play(t, a, engine.WithStore(store), engine.WithObserver(told))
		wantActs(t, s, "a 0 ", `a 0.5 {"copied":7}`, "a 1 ")
		if kept, err := store.Atom(t.Context(), "r", "a"); err != nil || kept.Details.String() != `{"copied":7}` {
			t.Errorf("kept %s, %v", kept.Details, err)
		}
	},
	"log": func(t *testing.T, s *stage) { // the handler sets the levels
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
			Level: slog.LevelWarn,
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.LevelKey && a.Value.Any() == slog.LevelWarn {
					return slog.String(slog.LevelKey, "ALERT")
				}
				return a
			},
		}))
		s.do = script{"a": alwaysFails}
		undone(t, s.atom("a"), engine.WithLogger(engine.FromSlog(log)))
		if text := out.String(); !strings.Contains(text, "level=ALERT msg=atom.failed") || strings.Contains(text, "msg=atom.revert") {
			t.Errorf("the log says:\n%s", text)
		}
	},
	"durations": func(t *testing.T, s *stage) {
		s.do = script{"a": func(context.Context, int) error { time.Sleep(time.Minute); return nil }}
		play(t, s.atom("a"), engine.WithObserver(listen.Durations(func(path string, took time.Duration) { s.act(fmt.Sprint(path, " took ", took)) })))
		wantActs(t, s, "a", "a took 1m0s")
	},
	"capture": func(t *testing.T, s *stage) {
		var seen listen.Capture
		play(t, s.atom("a"), engine.WithObserver(seen.Observe))
		if diff := cmp.Diff([]string{"RUNNING", "SUCCESS"}, seen.States("a")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	},
	"observer": func(t *testing.T, s *stage) { // a function may look at anything
		s.do = script{"b": alwaysFails}
		failures := func(ev engine.Event) {
			if ev.Failure != nil {
				s.act(fmt.Sprintf("told of %q", ev.Path))
			}
		}
		undone(t, flow.Linear("f", s.atom("a"), s.atom("b")), engine.WithObserver(failures))
		wantActs(t, s, "a", "b", `told of "b"`, "undo b failed", "undo a done", `told of ""`) // the run itself
	},
	"events of retries": func(t *testing.T, s *stage) {
		var seen listen.Capture
		play(t, s.tried(atom.Times(3, atom.Backoff{})), engine.WithObserver(seen.Observe))
		want := []string{"RUNNING", "SUCCESS", "RETRYING", "RUNNING", "SUCCESS", "RETRYING", "RUNNING", "SUCCESS"}
		if diff := cmp.Diff(want, seen.States("tried_retry")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	},
	"secrets": func(t *testing.T, _ *stage) { // are masked in all views
		var seen listen.Capture
		a := atom.Func("a", func(context.Context, struct{}) (string, error) { return "hunter2", nil }, atom.As("password"), atom.Secret())
		res := play(t, a, engine.WithObserver(seen.Observe))
		for _, ev := range seen.Events() {
			if strings.Contains(ev.Result.String(), "hunter2") {
				t.Error("an observer was told the password")
			}
		}
		wantValue(t, res, "password", `"hunter2"`)
	},
	"failure tree": func(t *testing.T, s *stage) {
		s.do = script{"b": alwaysFails}
		eng := newEngine(t, flow.Linear("f", s.atom("a", atom.Provides("x")), s.atom("b", atom.Requires("x"))))
		_, err := eng.Run(t.Context(), "r")
		reverted(t, err)
		text, err := inspect.Explain(t.Context(), eng.Store(), "r", eng.Plan())
		if err != nil || !strings.Contains(text, "b") || !strings.Contains(text, "Refused") || !strings.Contains(text, "a") {
			t.Errorf("%v\n%s", err, text)
		}
	},
	"pictures": func(t *testing.T, s *stage) {
		plan := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"))).Plan()
		if dot := draw.DOT(draw.OfPlan(plan)); !strings.Contains(dot, "digraph") {
			t.Errorf("the picture is %s", dot)
		}
	},
	"simulation": func(t *testing.T, _ *stage) { // each atom fails once, and the process dies at each point
		enginetest.FailAt(noSubtests{t}, enginetest.World[*world]{
			New:   func(testing.TB) *world { return &world{} },
			Flow:  func(w *world) flow.Node { return flow.Linear("f", w.task("a", nil), w.task("b", nil)) },
			State: func(w *world) any { return len(w.there) },
		})
	},
	"tasks by name": func(t *testing.T, _ *stage) {
		machine, err := asl.Parse("m", []byte(`{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"any:name","End":true}}}`))
		if err != nil {
			t.Fatal(err)
		}
		tasks := new(enginetest.Tasks).On("any:name", 7)
		res, err := newEngine(t, machine.Flow(), engine.WithTasks(tasks)).Run(t.Context(), "r")
		if err != nil || res.Output().String() != "7" {
			t.Errorf("got %s, %v", res.Output(), err)
		}
	},
}

// noSubtests hides that a test could have subtests, which are not possible in virtual time.
type noSubtests struct{ testing.TB }
