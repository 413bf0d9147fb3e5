package enginetest

import (
	"errors"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A World is a flow together with what it changes, as [FailAt] needs to know
// it. W is whatever the user's test works on: a fake bank, a folder, a database.
type World[W any] struct {
	// New makes a world to which nothing was done yet. Every case has one of its
	// own. Required.
	New func(tb testing.TB) W

	// Flow returns the flow at work on w. It is called again when another process
	// goes on with a run. Required.
	Flow func(w W) flow.Node

	// State returns what of w must be back when a run was undone, and must be the
	// same however often it crashed. Any value will do that can be printed: it is
	// compared by what is in it, unexported fields included, and nil and empty
	// maps and slices are the same. Leave out what differs from run to run without
	// being wrong, such as counters and times. Required.
	State func(w W) any

	// Options are the engine's, such as engine.With. Store and parallelism are
	// FailAt's. Optional.
	Options func(w W) []engine.Option

	// RunOptions are the run's, such as engine.Input. Optional.
	RunOptions func(w W) []engine.RunOption

	// Store opens the store that keeps the run, once for each process that works on
	// it, and each closes it: for tasks that use atom.Tx. It must keep what it is
	// given from one opening to the next, and nothing from one world to the next.
	// Optional; the default is in memory.
	Store func(w W) (storage.Store, error)

	// Codes are further codes to let atoms fail with, beside [atom.CodeError]:
	// those that retries and catches of the flow tell apart. Optional.
	Codes []string

	// Stays names the atoms whose effects may stay when a run is undone, such as a
	// mail that was sent. A difference that only these atoms made does not count. Optional.
	Stays []string

	// MaxCases bounds the number of cases. When there are more, so many are chosen
	// evenly, and a log line says so. Optional; 0 is 1,000.
	MaxCases int

	// RealTime runs the cases outside of testing/synctest, where timeouts and
	// backoffs take the time they take. It is for worlds that a bubble cannot
	// hold: those with connections to other processes or with goroutines that
	// outlive the test. Optional.
	RealTime bool
}

// maxCases is how many cases are run unless [World.MaxCases] says otherwise.
const maxCases = 1000

// An instance is one world, whatever its type.
type instance struct {
	flow    func() flow.Node
	options []engine.Option
	run     []engine.RunOption
	state   func() any
	open    func() (storage.Store, error)
}

// explorer makes what runs the cases of w.
func (w *World[W]) explorer() (*explorer, error) {
	switch {
	case w.New == nil:
		return nil, errors.New("enginetest: World.New is nil: there is no world to run the flow in")
	case w.Flow == nil:
		return nil, errors.New("enginetest: World.Flow is nil: there is no flow to test")
	case w.State == nil:
		return nil, errors.New("enginetest: World.State is nil: without it nobody can tell whether the world is back where it was")
	}
	x := &explorer{
		codes: w.Codes, stays: w.Stays, most: w.MaxCases, realTime: w.RealTime,
		known: map[script]*played{}, told: map[string]string{},
		fresh: func(tb testing.TB) *instance {
			tb.Helper()
			it := w.New(tb)
			records := memstore.New()
			in := &instance{
				flow:  func() flow.Node { return w.Flow(it) },
				state: func() any { return w.State(it) },
				open:  func() (storage.Store, error) { return records.Join(), nil },
			}
			if w.Store != nil {
				in.open = func() (storage.Store, error) { return w.Store(it) }
			}
			if w.Options != nil {
				in.options = w.Options(it)
			}
			if w.RunOptions != nil {
				in.run = w.RunOptions(it)
			}
			return in
		},
	}
	if x.most <= 0 {
		x.most = maxCases
	}
	return x, nil
}
