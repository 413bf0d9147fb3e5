package enginetest

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/failat"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A World is a flow together with the world that it changes, for [FailAt]. W is the object of the user's test: a fake
// bank, a folder, a database.
type World[W any] struct {
	// New returns a fresh world. Each case gets its own. Required.
	New func(tb testing.TB) W

	// Flow returns the flow that works on w. FailAt calls it again when another process
	// resumes a run. Required.
	Flow func(w W) flow.Node

	// State returns what of w must be back when a run was undone, and must be the
	// same however often it crashed. Any value will do that can be printed: it is
	// compared by what is in it, unexported fields included, and nil and empty
	// maps and slices are the same. Leave out what differs from run to run without
	// being wrong, such as counters and times. Required.
	State func(w W) any

	// Options are options of the engine, such as engine.With. FailAt sets the store and
	// the parallelism itself. Optional.
	Options func(w W) []engine.Option

	// RunOptions are options of the run, such as engine.Input. Optional.
	RunOptions func(w W) []engine.RunOption

	// Store opens the store of the run, for tasks that use atom.Tx. FailAt calls it once
	// for each process that drives the run, and closes each store. The data must survive
	// from one opening to the next, and must not be shared between worlds. Optional; the
	// default is in memory.
	Store func(w W) (storage.Store, error)

	// Codes are further codes with which atoms fail, beside [atom.CodeError]: the codes
	// that retries and catches of the flow recognize. Optional.
	Codes []string

	// Stays names the atoms whose effects may stay when a run is undone, such as a
	// mail that was sent. A difference that only these atoms made does not count. Optional.
	Stays []string

	// Answers end what the flow waits for, by the path of an atom that awaits a signal or has a token: the result, or
	// an error. FailAt answers as soon as the atom waits. In further cases it answers with a failure, and not at all:
	// then the Deadline of the atom's atom.Deferral must end the wait. Timers need no answer. Optional.
	Answers map[string]any

	// MaxCases limits the number of cases. If there are more, FailAt runs an even
	// selection and logs that. Optional; 0 is 1,000.
	MaxCases int

	// RealTime runs the cases outside of testing/synctest, so that timeouts and backoffs
	// take real time. Set it for worlds that cannot be in a bubble: those with connections
	// to other processes, or with goroutines that outlive the test. Optional.
	RealTime bool
}

// maxCases is how many cases are run unless [World.MaxCases] says otherwise.
//
//limit:tests cases of one `FailAt` (`enginetest.World.MaxCases`) | {}* | evenly chosen
const maxCases = 1000

// check returns an error for a world that lacks what is required.
func (w *World[W]) check() error {
	switch {
	case w.New == nil:
		return errors.New("enginetest: World.New is nil: there is no world to run the flow in")
	case w.Flow == nil:
		return errors.New("enginetest: World.Flow is nil: there is no flow to test")
	case w.State == nil:
		return errors.New(
			"enginetest: World.State is nil: without it the test cannot compare the world before and after")
	}
	return nil
}

// world returns what is tried.
func (w *World[W]) world() failat.World {
	of := failat.World{Codes: func(string) []string { return w.Codes }, Stays: w.Stays, Most: w.MaxCases}
	if !w.RealTime { // else a missing answer would take as long as it may
		of.Waits = slices.Sorted(maps.Keys(w.Answers))
	}
	if of.Most <= 0 {
		of.Most = maxCases
	}
	return of
}

// fresh returns a world in which nothing was done yet.
func (w *World[W]) fresh(tb testing.TB) *failat.Instance {
	tb.Helper()
	it := w.New(tb)
	records := memstore.New()
	in := &failat.Instance{
		Flow:  func() flow.Node { return w.Flow(it) },
		State: func() any { return w.State(it) },
		Open:  func() (backend.Store, error) { return records.Join(), nil },
	}
	if in.Answers = w.Answers; !w.RealTime && (len(w.Answers) > 0 || failat.Waits(in.Flow())) {
		in.Limit = failat.GiveUp
	}
	if w.Store != nil {
		in.Open = func() (backend.Store, error) {
			opened, err := w.Store(it)
			if err != nil {
				return nil, err
			}
			return backend.Of(opened), nil
		}
	}
	if w.Options != nil {
		in.Options = w.Options(it)
	}
	if w.RunOptions != nil {
		in.Run = w.RunOptions(it)
	}
	return in
}
