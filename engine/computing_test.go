package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// computingFlows returns machines that never wait.
func computingFlows(t *testing.T) map[string]flow.Node {
	t.Helper()
	loop := func(n string) string {
		return strings.ReplaceAll(`"StartAt": "Work#", "States": {
		"Work#": {"Type": "Pass", "Result": {"n": 1}, "Next": "More#"},
		"More#": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 2, "Next": "Done#"}], "Default": "Work#"},
		"Done#": {"Type": "Succeed"}}`, "#", n)
	}
	machines := map[string]string{
		"loop":     `{` + loop("") + `}`,
		"deadline": `{"TimeoutSeconds": 1, ` + loop("") + `}`,
		"nested": `{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [{` + loop("1") + `}, {` + loop("2") + `},
			{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemsPath": "$.items", "ItemProcessor": {` + loop("3") + `}}}}]}}}`,
		"maps": `{"StartAt": "Each", "States": {
			"Each": {"Type": "Map", "Next": "Again", "ItemsPath": "$.items", "ResultPath": null,
				"ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Pass", "End": true}}}},
			"Again": {"Type": "Choice", "Choices": [{"Variable": "$.items", "IsNull": true, "Next": "Done"}], "Default": "Each"},
			"Done": {"Type": "Succeed"}}}`,
	}
	flows := map[string]flow.Node{"grower": flow.Growing("grower", laps{})}
	for name, text := range machines {
		m, err := asl.Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		flows[name] = m.Flow()
	}
	return flows
}

// laps is a language that only computes.
type laps struct{}

func (laps) Grow(*grow.Ask) grow.Growth {
	return grow.Growth{More: atom.Null, Events: []grow.Event{{Type: "Lap"}}}
}

func (laps) Undo(*grow.UndoAsk) (atom.Value, error) { return atom.Null, nil }

// TestComputingRunHears makes requests of runs that only compute. They take effect while the runs compute.
func TestComputingRunHears(t *testing.T) {
	t.Parallel()
	for name, root := range computingFlows(t) {
		for how, request := range requests {
			if name == "deadline" && how != "nothing" || name != "deadline" && how == "nothing" {
				continue
			}
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				s := memstore.New()
				began := make(chan struct{}, 1)
				eng, err := engine.New(root, watched{s, began})
				if err != nil {
					t.Fatal(err)
				}
				request(t, eng, s, began)
			})
		}
	}
}

// watched reports a checkpoint after the first one.
type watched struct {
	backend.Store

	began chan struct{}
}

func (w watched) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	err := w.Store.Commit(ctx, c, cp)
	if err == nil && cp.Head.Seq > 2 {
		select {
		case w.began <- struct{}{}:
		default:
		}
	}
	return err
}

var items = engine.Input(atom.MustEncode(map[string]any{"items": []int{1, 2, 3}, "many": make([]int, 30_000)}))

// requests are the possible requests of a run. Each returns once the run rests.
var requests = map[string]func(t *testing.T, eng *engine.Engine, s backend.Store, began <-chan struct{}){
	"nothing": func(t *testing.T, eng *engine.Engine, s backend.Store, _ <-chan struct{}) { // its own time limit
		_, err := eng.Run(t.Context(), "run", items)
		hasEnded(t, s, err, storage.TimedOut)
	},
	"cancel": func(t *testing.T, eng *engine.Engine, s backend.Store, began <-chan struct{}) {
		err := driven(t, func(ctx context.Context) error { _, err := eng.Run(ctx, "run", items); return err }, func(context.CancelFunc) {
			<-began
			send(t, s, engine.Cancel("enough"))
		})
		hasEnded(t, s, err, storage.Cancelled)
	},
	"abandon": func(t *testing.T, eng *engine.Engine, s backend.Store, began <-chan struct{}) {
		err := driven(t, func(ctx context.Context) error { _, err := eng.Run(ctx, "run", items); return err }, func(context.CancelFunc) {
			<-began
			send(t, s, engine.Abandon("enough"))
		})
		hasEnded(t, s, err, storage.Cancelled)
	},
	"suspend": func(t *testing.T, eng *engine.Engine, s backend.Store, began <-chan struct{}) {
		err := driven(t, func(ctx context.Context) error { _, err := eng.Run(ctx, "run", items); return err }, func(context.CancelFunc) {
			<-began
			send(t, s, engine.Hold())
		})
		if !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
		goesOn(t, eng, s)
	},
	"suspend engine": func(t *testing.T, eng *engine.Engine, _ backend.Store, began <-chan struct{}) {
		err := driven(t, func(ctx context.Context) error { _, err := eng.Run(ctx, "run", items); return err }, func(context.CancelFunc) {
			<-began
			eng.Suspend()
		})
		if !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
	},
	"stop": func(t *testing.T, eng *engine.Engine, s backend.Store, began <-chan struct{}) {
		err := driven(t, func(ctx context.Context) error { _, err := eng.Run(ctx, "run", items); return err }, func(stop context.CancelFunc) {
			<-began
			stop()
		})
		if !errors.Is(err, engine.ErrStopped) {
			t.Fatal(err)
		}
		goesOn(t, eng, s)
	},
	"drain":         drains(time.Hour),
	"drain at once": drains(0),
}

// drains stops a server, which lets executing atoms run for the given time.
func drains(d time.Duration) func(t *testing.T, eng *engine.Engine, s backend.Store, began <-chan struct{}) {
	return func(t *testing.T, eng *engine.Engine, s backend.Store, began <-chan struct{}) {
		if err := eng.Start(t.Context(), "run", items); err != nil {
			t.Fatal(err)
		}
		serve := func(ctx context.Context) error { return eng.Serve(ctx, engine.WithDrain(d)) }
		if err := driven(t, serve, func(stop context.CancelFunc) { <-began; stop() }); err != nil {
			t.Fatal(err)
		}
		goesOn(t, eng, s)
	}
}

// driven makes a request of the process that drives a run, and returns how that ended.
func driven(t *testing.T, drive func(ctx context.Context) error, request func(stop context.CancelFunc)) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	end := make(chan error, 1)
	go func() { end <- drive(ctx) }()
	request(stop)
	select {
	case err := <-end:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
		return nil
	}
}

func send(t *testing.T, s backend.Store, o engine.Command) {
	t.Helper()
	for {
		err := engine.Send(t.Context(), s, "run", o)
		if err == nil {
			return
		}
		if !errors.Is(err, storage.ErrNotFound) { // it appears soon, although the run computes
			t.Error(err)
			return
		}
		runtime.Gosched()
	}
}

// hasEnded checks the end of a run.
func hasEnded(t *testing.T, s backend.Store, err error, want storage.Outcome) {
	t.Helper()
	run, wrong := s.Run(t.Context(), "run")
	if wrong != nil || !run.State.Ended() || run.Outcome != want || run.Owner != "" {
		t.Fatalf("%v, %v, owner %q, %v: %v", run.State, run.Outcome, run.Owner, wrong, err)
	}
}

// goesOn checks that a run has no owner, and can be resumed until it is cancelled.
func goesOn(t *testing.T, eng *engine.Engine, s backend.Store) {
	t.Helper()
	run, err := s.Run(t.Context(), "run")
	if err != nil || run.State.Ended() || run.Owner != "" {
		t.Fatalf("%v, owner %q: %v", run.State, run.Owner, err)
	}
	_, err = eng.Command(t.Context(), "run", engine.Cancel("enough"))
	hasEnded(t, s, err, storage.Cancelled)
}
