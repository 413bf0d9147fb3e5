package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// slack is the time that a request may take in addition to a second. The tests of this package run beside each other,
// each with goroutines that compute without a pause, on as few as two cores and under the race detector. So a goroutine
// may run seconds after it is woken. The median of all draws must not need the slack, see TestComputingProperty.
const slack = 4 * time.Second

// propertyGrace is how long a call may ignore its context here.
const propertyGrace = 300 * time.Millisecond

// A wanted is a request, with its effect on the run.
type wanted struct {
	name    string
	ends    bool // the contexts of calls end
	outcome storage.Outcome
	rests   error // the error of Run if the run can be resumed; nil if it ends
}

var everyRequest = []wanted{
	{name: "cancel", ends: true, outcome: storage.Cancelled},
	{name: "abandon", ends: true, outcome: storage.Cancelled},
	{name: "suspend", rests: engine.ErrSuspended},
	{name: "suspend engine", rests: engine.ErrSuspended},
	{name: "stop", ends: true, rests: engine.ErrStopped},
	{name: "drain"},
	{name: "deadline", ends: true, outcome: storage.TimedOut},
}

// A computingFlow describes a flow that computes, with the request and its time.
type computingFlow struct {
	Language string        // asl, sm4c or grower
	Works    int           // undoable tasks before it computes
	Lap      string        // between two computing states: nothing, a call, a timer or a retry
	Heavy    bool          // each state computes for many milliseconds
	Beside   string        // a call in flight meanwhile: none, one that heeds its context, or one that is deaf
	Undo     bool          // it fails, and computes the inputs of its undo tasks
	Laps     int           // number of laps; 0 is endless
	After    time.Duration // from the first work to the request
	Request  wanted
}

func anyComputingFlow(t *rapid.T) computingFlow {
	pick := func(what string, from ...string) string { return rapid.SampledFrom(from).Draw(t, what) }
	f := computingFlow{
		Language: pick("language", "asl", "asl", "sm4c", "grower", "grower"),
		Works:    rapid.IntRange(0, 3).Draw(t, "works"),
		Lap:      pick("lap", "nothing", "nothing", "call", "timer", "retry"),
		Heavy:    rapid.Bool().Draw(t, "heavy"),
		Beside:   pick("beside", "none", "none", "heeds", "deaf"),
		Undo:     rapid.IntRange(0, 3).Draw(t, "undo") == 0,
		After:    time.Duration(rapid.IntRange(0, 300).Draw(t, "after")) * time.Millisecond,
		Request:  rapid.SampledFrom(everyRequest).Draw(t, "request"),
	}
	switch {
	case f.Undo: // it undoes much; one more request to undo changes nothing
		f.Works, f.Lap, f.Beside, f.Heavy = 60, "nothing", "none", true
		f.Request = rapid.SampledFrom(slices.DeleteFunc(slices.Clone(everyRequest), func(a wanted) bool {
			return a.name == "cancel" || a.name == "deadline"
		})).Draw(t, "request while it undoes")
	case f.Language == "sm4c":
		f.Beside = "none" // its actions run one after the other
		if f.Lap == "retry" {
			f.Lap = "call"
		}
		f.Heavy = f.Heavy || f.Lap == "nothing" // otherwise 10,000 transitions end it at once
	default:
	}
	if !f.Undo && f.Language != "sm4c" && rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
		most := 200
		if f.Lap == "retry" {
			most = 5 // each waits for seconds
		}
		f.Laps = rapid.IntRange(1, most).Draw(t, "laps")
	}
	return f
}

// TestComputingProperty draws flows that compute, in each language, forward and during an undo, with and without calls.
// It makes a request at any moment. Unless a call ignores its context, the request takes effect within a second: it is
// recorded, the contexts of calls have ended, and only undos start. A run that rests later continues to its end, and is
// then undone.
func TestComputingProperty(t *testing.T) {
	t.Parallel()
	const times = 25
	var took []time.Duration
	check(t, times, func(rt *rapid.T) {
		f := anyComputingFlow(rt)
		if d, ok := interrupted(t, rt, f); ok {
			took = append(took, d)
		}
	})
	slices.Sort(took)
	if len(took) > 0 && !testing.Short() {
		t.Logf("%d requests took %v, %v and %v at least, in the middle and at most", len(took), took[0], took[len(took)/2], took[len(took)-1])
		if took[len(took)/2] > time.Second {
			t.Errorf("half of the requests took %v or more to take effect; want a second at most", took[len(took)/2])
		}
	}
}

// interrupted drives a flow, makes its request, and checks the result. It returns the time beyond waiting for calls,
// and false if the run had ended before.
func interrupted(t *testing.T, rt *rapid.T, f computingFlow) (took time.Duration, ok bool) {
	s, w := memstore.New(), newComputingWorld()
	defer w.release()
	eng := newEngine(t, f.build(t), engine.WithStore(s), engine.WithTasks(w), engine.WithGrace(propertyGrace))
	drive := func(ctx context.Context) error { _, err := eng.Run(ctx, "run"); return err }
	if f.Request.name == "drain" {
		if err := eng.Start(t.Context(), "run"); err != nil {
			rt.Fatal(err)
		}
		drive = func(ctx context.Context) error { return eng.Serve(ctx, engine.WithDrain(time.Hour)) }
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	end := make(chan error, 1)
	go func() { end <- drive(ctx) }()
	w.await(f.Undo)
	time.Sleep(f.After) // at any moment
	at := time.Now()
	switch f.Request.name {
	case "cancel", "abandon", "suspend":
		o := map[string]engine.Command{"cancel": engine.Cancel("enough"), "abandon": engine.Abandon("enough"), "suspend": engine.Hold()}[f.Request.name]
		send(t, s, o)
	case "suspend engine":
		eng.Suspend()
	case "deadline":
		at = w.first().Add(deadlineAfter)
	default:
		stop()
	}
	var err error
	select {
	case err = <-end:
	case <-time.After(time.Minute):
		rt.Fatalf("%+v goes on", f)
	}
	rested := time.Now()
	run, wrong := s.Run(t.Context(), "run")
	if wrong != nil {
		rt.Fatalf("%+v: %v", f, wrong)
	}
	if f.endedAlone(&run) {
		if f.Request.name == "drain" || !run.Ended.After(at.Add(time.Second)) {
			return 0, false
		}
		rt.Fatalf("%+v ended %v by itself, %v after the request", f, run.Outcome, run.Ended.Sub(at))
	}
	took = rested.Sub(at) - f.waitsFor()
	if took > time.Second+slack {
		rt.Fatalf("%+v: it took %v", f, took)
	}
	w.look(rt, f, at)
	f.recorded(rt, &run, err)
	f.goesOn(t, rt, s, w, &run)
	return took, true
}

// waitsFor returns how long calls in flight may keep the run.
func (f computingFlow) waitsFor() time.Duration {
	switch {
	case f.Beside == "none":
		return 0
	case !f.Request.ends: // they end by themselves
		return callTakes
	case f.Beside == "deaf":
		return propertyGrace
	default:
		return 0
	}
}

// endedAlone reports whether the run had ended before the request was seen.
func (f computingFlow) endedAlone(run *storage.Run) bool {
	switch {
	case !run.State.Ended():
		return false
	case f.Undo:
		return f.Request.name != "abandon" || run.Undo == storage.UndoneAll
	default:
		return run.Outcome == storage.Succeeded || run.Outcome == storage.FailedOutcome
	}
}

// recorded checks that the request is in the store.
func (f computingFlow) recorded(rt *rapid.T, run *storage.Run, err error) {
	r := &f.Request
	switch {
	case run.Owner != "":
		rt.Fatalf("%+v: %q owns the run", f, run.Owner)
	case r.rests != nil && !errors.Is(err, r.rests), r.name == "drain" && err != nil:
		rt.Fatalf("%+v: %v", f, err)
	case r.rests != nil || r.name == "drain":
		if run.State.Ended() || r.name == "suspend" && (run.State != states.FlowSuspended || !run.Hold) {
			rt.Fatalf("%+v: the run is %v, held: %v", f, run.State, run.Hold)
		}
	case !run.State.Ended() || !f.Undo && run.Outcome != r.outcome:
		rt.Fatalf("%+v: the run is %v, %v: %v", f, run.State, run.Outcome, err)
	}
}

// goesOn resumes a resting run in another process, to its end if it has one, or until it is cancelled. Then exactly the
// effects that the end promises remain.
func (f computingFlow) goesOn(t *testing.T, rt *rapid.T, s backend.Store, w *computingWorld, run *storage.Run) {
	if !run.State.Ended() {
		eng := newEngine(t, f.build(t), engine.WithStore(s), engine.WithTasks(w), engine.WithGrace(propertyGrace))
		var err error
		if f.Laps > 0 || f.Undo {
			_, err = eng.Run(t.Context(), "run")
		} else {
			_, err = eng.Command(t.Context(), "run", engine.Cancel("enough"))
		}
		row, wrong := s.Run(t.Context(), "run")
		if wrong != nil || !row.State.Ended() || row.Owner != "" {
			rt.Fatalf("%+v: gone on with, the run is %v of %q: %v, %v", f, row.State, row.Owner, err, wrong)
		}
		*run = row
		want := storage.Cancelled
		switch {
		case f.Undo:
			want = storage.FailedOutcome
		case f.Laps > 0:
			want = storage.Succeeded
		}
		if timed := f.Request.name == "deadline"; run.Outcome != want && !timed {
			rt.Fatalf("%+v: gone on with, it ended %v, not %v: %v", f, run.Outcome, want, err)
		}
	}
	left := w.left()
	switch {
	case run.Outcome == storage.Succeeded && len(left) != f.Works:
		rt.Fatalf("%+v: it succeeded, and left %v", f, left)
	case run.Outcome != storage.Succeeded && f.Request.name != "abandon" && len(left) > 0:
		rt.Fatalf("%+v: it ended %v, and left %v", f, run.Outcome, left)
	default:
	}
}

// build builds the flow again, as another process would.
func (f computingFlow) build(t *testing.T) flow.Node {
	t.Helper()
	switch f.Language {
	case "asl":
		return f.inASL(t)
	case "sm4c":
		return f.inSM4C(t)
	default:
		return flow.Growing("grower", f.grower())
	}
}

func (f computingFlow) deadline() bool { return f.Request.name == "deadline" }

// deadlineAfter is the time after which a run with a deadline must end.
const deadlineAfter = time.Second

// callTakes is the duration of the calls in flight.
const callTakes = 600 * time.Millisecond
