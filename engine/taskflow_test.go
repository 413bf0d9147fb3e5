package engine_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/internal/taskflowtest"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestConformanceTaskFlowEngine plays the recorded TaskFlow cases that are one
// run without interruption through engine and store: serially, comparing traces
// and calls, and side by side where the order does not matter. All cases, with
// their interruptions, are played by the scheduler's own test.
func TestConformanceTaskFlowEngine(t *testing.T) {
	t.Parallel()
	aspects := []struct {
		name    string
		opts    []engine.Option
		compare func(*conformance.TaskFlowRecord, *conformance.TaskFlowOutcome) string
		unless  func(*conformance.TaskFlowRecord) bool
	}{
		{
			"engine each",
			[]engine.Option{engine.WithParallelism(1), engine.WithCheckpoints(engine.Each)},
			(*conformance.TaskFlowRecord).CompareRuns, func(*conformance.TaskFlowRecord) bool { return false },
		},
		{
			"engine step",
			[]engine.Option{engine.WithParallelism(1)},
			(*conformance.TaskFlowRecord).CompareSequences, func(*conformance.TaskFlowRecord) bool { return false },
		},
		{
			"engine parallel",
			[]engine.Option{engine.WithParallelism(8)},
			(*conformance.TaskFlowRecord).CompareSequences, func(r *conformance.TaskFlowRecord) bool { return !r.Expect.OrderInsensitive },
		},
	}
	for _, file := range []string{"named", "open"} {
		for _, aspect := range aspects {
			t.Run(file+"/"+aspect.name, func(t *testing.T) {
				t.Parallel()
				tally := conformance.NewTaskFlowTally(file, aspect.name)
				for _, rec := range conformance.TaskFlow(t, file) {
					if rec.Expect.BuildError != "" || len(rec.Case.Interrupts) > 0 || len(rec.Case.After) > 0 || aspect.unless(rec) {
						continue
					}
					if departure := rec.Departure(); departure != "" {
						tally.LeaveOut(departure)
						continue
					}
					tally.Add(rec, aspect.compare(rec, playCase(t, rec, aspect.opts...)))
				}
				tally.Print(t)
			})
		}
	}
}

// playCase runs a case and notes what an observer sees.
func playCase(t *testing.T, rec *conformance.TaskFlowRecord, opts ...engine.Option) *conformance.TaskFlowOutcome {
	t.Helper()
	world := taskflowtest.NewWorld()
	root, inputs := taskflowtest.Build(&rec.Case, world)
	for symbol := range inputs {
		opts = append(opts, engine.Needs(atom.NewKey[any](symbol)))
	}
	if !rec.Case.Options.DeferReverts {
		opts = append(opts, engine.KeepOuter())
	}
	if rec.Case.Options.NeverResolve {
		opts = append(opts, engine.NeverResolve())
	}
	retries := map[string]bool{}
	var mu sync.Mutex
	run := conformance.TaskFlowRun{Op: "run"}
	opts = append(opts, engine.WithObserver(func(ev engine.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ev.Kind == engine.FlowChanged:
			run.Trace = append(run.Trace, conformance.TaskFlowChange{"F", ev.From, ev.To})
		case ev.Kind == engine.AtomChanged && retries[ev.Path]:
			run.Trace = append(run.Trace, conformance.TaskFlowChange{"R", ev.Path, ev.From, ev.To})
		case ev.Kind == engine.AtomChanged:
			run.Trace = append(run.Trace, conformance.TaskFlowChange{"T", ev.Path, ev.From, ev.To})
		}
	}))
	eng, err := engine.New(root, opts...)
	if err != nil {
		t.Fatalf("%s: %v", rec.Name, err)
	}
	for _, a := range eng.Plan().Atoms {
		retries[a.Name()] = a.Kind() == atom.KindRetry
	}
	res, err := eng.Run(t.Context(), rec.Name, engine.Input(atom.MustEncode(taskflowtest.Inputs(&rec.Case))))
	if res == nil {
		t.Fatalf("%s: %v", rec.Name, err)
	}
	run.Flow = res.Run.State.String()
	run.Calls = world.Calls()
	run.Raised = raised(err)
	return &conformance.TaskFlowOutcome{Runs: []conformance.TaskFlowRun{run}}
}

// raised names what Run returned, as records do.
func raised(err error) []string {
	var failures []*atom.Failure
	if reverted, ok := errors.AsType[*engine.RevertedError](err); ok {
		failures = reverted.Failures
	} else if failed, ok := errors.AsType[*engine.FailedError](err); ok {
		failures = failed.Failures
	}
	var names []string
	for _, f := range failures {
		names = append(names, taskflowtest.Show(f))
	}
	slices.Sort(names)
	return names
}
