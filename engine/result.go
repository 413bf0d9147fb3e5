package engine

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Result describes a run that has come to rest.
type Result struct {
	Run storage.Run // record of the run: state, outcome, times

	s     *scheduler.Scheduler
	store backend.Reader
}

// String returns the run's id, its flow, how it ended, and why it failed, if it did.
func (r Result) String() string {
	text := r.Run.String()
	if f := r.Run.Failure; f != nil {
		text += ": " + f.Error()
	}
	return text
}

// Output returns the result of a growing flow, or nil if it has none.
func (r *Result) Output() atom.Value { return r.Run.Output.Data }

// Value returns the value of a symbol at the end of the run. The last atom of the flow that provides the symbol
// takes precedence over the run's input. If the symbol has no value, for example because its atom was undone, Value
// returns false.
func (r *Result) Value(symbol string) (atom.Value, bool) { return r.s.Final(symbol) }

// Values returns the values of all symbols at the end of the run, see [Result.Value], and of its input.
func (r *Result) Values() map[string]atom.Value { return r.s.Finals() }

// Get returns the value of key at the end of the run, see [Result.Value]. If key has no value, Get returns an error
// that wraps [storage.ErrNotFound]. If the value is not a T, Get returns the decoder's error.
// A list that is too large for one value is an error, too: see [Elements].
func Get[T any](r *Result, key atom.Key[T]) (T, error) {
	var out T
	v, ok := r.Value(key.Name())
	if !ok {
		return out, said(storage.ErrNotFound, "run %q has no value of %q", r.Run.ID, key.Name())
	}
	if list, stored := atom.StoredListOf(v); stored {
		return out, fmt.Errorf(
			"engine: the list %q of run %q has %d elements, which are not one value; read them with engine.Elements", key.Name(),
			r.Run.ID, list.Len)
	}
	return out, v.Decode(&out)
}

// result returns the result of a run that has already ended.
func (e *Engine) result(ctx context.Context, run *storage.Run, opts []RunOption) (*Result, error) {
	plan, _, err := e.planFor(ctx, run, opts)
	if err != nil {
		return nil, err
	}
	snap := &backend.Snapshot{Run: *run}
	if snap.Atoms, err = e.planAtoms(ctx, run.ID, plan); err != nil {
		return nil, err
	}
	d, err := e.driver(ctx, plan, backend.Claim{Run: run.ID}, snap)
	if err != nil {
		return nil, err
	}
	d.Close()
	res := &Result{Run: *run, s: d.Scheduler(), store: e.env.Store}
	return res, verdict(res, d.Scheduler().AllFailures())
}

// planAtoms returns the atoms of a run that are in its plan.
func (e *Engine) planAtoms(ctx context.Context, id string, plan *flow.Plan) (atoms []storage.Atom, err error) {
	if plan.Grows() { // nodes of a growing flow are not in the plan, and there may be very many
		atoms, err := e.env.Store.AtomsAt(ctx, id, flow.GrowingPath)
		return atoms, session.Wrap(id, err)
	}
	for a, err := range storage.EachAtom(ctx, e.env.Store, id, storage.AtomQuery{}) {
		if err != nil {
			return nil, session.Wrap(id, err)
		}
		if plan.Index(a.Path) >= 0 {
			atoms = append(atoms, a)
		}
	}
	return atoms, nil
}

// verdict returns the error for a run's end.
func verdict(res *Result, failures []*atom.Failure) error {
	run := &res.Run
	if len(failures) == 0 && run.Failure != nil {
		failures = []*atom.Failure{run.Failure}
	}
	switch run.State {
	case states.FlowSuccess:
		return nil
	case states.FlowReverted:
		return &RevertedError{Run: run.ID, Failures: failures}
	case states.FlowFailure:
		return &FailedError{
			Run: run.ID, Failures: failures, UndoFailed: run.Undo == storage.UndoFailed, causes: res.s.Failures(),
		}
	default:
		return fmt.Errorf("%w: run %q", ErrSuspended, run.ID)
	}
}
