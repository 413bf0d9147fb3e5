package engine_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// byPhase drives a run to rest with Steps, and returns its last error.
func byPhase(eng *engine.Engine) func(ctx context.Context) error {
	return func(ctx context.Context) (last error) {
		for _, err := range eng.Steps(ctx, "run") {
			last = err
		}
		return last
	}
}

// TestHeedlessAnswerIsGivenUpUnderSteps makes requests of runs that are driven phase by phase, while their language
// ignores everything.
func TestHeedlessAnswerIsGivenUpUnderSteps(t *testing.T) {
	t.Parallel()
	for how, request := range map[string]func(t *testing.T, eng *engine.Engine, s backend.Store, stop func()) error{
		"cancel": func(t *testing.T, _ *engine.Engine, s backend.Store, _ func()) error {
			t.Helper()
			send(t, s, engine.Cancel("enough"))
			return new(engine.RevertedError)
		},
		"suspend": func(t *testing.T, _ *engine.Engine, s backend.Store, _ func()) error {
			t.Helper()
			send(t, s, engine.Hold())
			return engine.ErrSuspended
		},
		"suspend engine": func(_ *testing.T, eng *engine.Engine, _ backend.Store, _ func()) error {
			eng.Suspend()
			return engine.ErrSuspended
		},
		"stop": func(_ *testing.T, _ *engine.Engine, _ backend.Store, stop func()) error {
			stop()
			return engine.ErrStopped
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s, lang := memstore.New(), newHeedless(t, false)
			eng := newEngine(t, flow.Growing("f", lang), engine.WithStore(s), engine.WithTasks(parts{&stage{}}), engine.WithGrace(0))
			var want error
			err := driven(t, byPhase(eng), func(stop context.CancelFunc) {
				<-lang.began
				want = request(t, eng, s, stop)
			})
			if _, undone := errors.AsType[*engine.RevertedError](want); undone {
				hasEnded(t, s, err, storage.Cancelled)
			} else if !errors.Is(err, want) {
				t.Errorf("%v; want %v", err, want)
			}
			if n := eng.GivenUp(); n == 0 {
				t.Error("none was given up")
			}
		})
	}
}

// TestStepsLeftDuringHeedlessAnswer leaves the loop before a question to a language that never answers. The run rests
// nevertheless.
func TestStepsLeftDuringHeedlessAnswer(t *testing.T) {
	t.Parallel()
	s, heedless := memstore.New(), newHeedless(t, false)
	never := lang(func(*grow.Ask) grow.Growth { return heedless.Grow(&grow.Ask{}) })
	eng := newEngine(t, flow.Growing("f", never), engine.WithStore(s), engine.WithGrace(0))
	if err := eng.Start(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	phases := 0
	for _, err := range eng.Steps(t.Context(), "run") {
		if err != nil {
			t.Error(err)
		}
		phases++
		break
	}
	run, err := s.Run(t.Context(), "run")
	if err != nil || run.State != states.FlowSuspended || run.Owner != "" || phases != 1 {
		t.Errorf("%v, owner %q, after %d phases: %v", run.State, run.Owner, phases, err)
	}
}

// TestStepsBroken leaves the loop by a panic, and by the end of its goroutine, at each phase. The run then has no
// owner, and is resumed.
func TestStepsBroken(t *testing.T) {
	t.Parallel()
	for how, leave := range map[string]func(){"panic": func() { panic("the loop") }, "exit": runtime.Goexit} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				s, stage := memstore.New(), &stage{}
				eng := newEngine(t, flow.Linear("f", stage.atom("a"), stage.atom("b")), engine.WithStore(s))
				phase, ended := 0, make(chan any)
				go func() {
					defer func() { ended <- recover() }()
					for range eng.Steps(t.Context(), "run") { //nolint:errcheck // the loop is broken
						if phase++; phase == at {
							leave()
						}
					}
				}()
				if why := <-ended; phase == at && how == "panic" && why != "the loop" {
					t.Errorf("phase %d: %v", at, why)
				}
				if run, err := s.Run(t.Context(), "run"); err == nil && run.Owner != "" {
					t.Errorf("phase %d: the run is still owned by %q", at, run.Owner)
				}
				if _, err := eng.Run(t.Context(), "run"); err != nil {
					t.Fatalf("phase %d: %v", at, err)
				}
				acts := slices.Compact(stage.took()) // uncommitted work is repeated
				if !slices.Equal(acts, []string{"a", "b"}) {
					t.Errorf("phase %d: %q", at, acts)
				}
				if phase < at {
					return
				}
			}
		})
	}
}
