package inspect

import (
	"context"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Diagnosis is what Ebb knows about why a run is in its present state.
type Diagnosis struct {
	Run      storage.Run
	Owner    *storage.Owner // the process that drives it, or drove it until it died; nil if there is none
	Atoms    []storage.Atom // that are in the middle of something, without their values
	More     int            // so many more are
	Timers   []storage.TimerRow
	Tokens   map[string]*storage.Token // open ones, by the atom's path
	Messages []storage.Message
	Machine  *flow.Waiting         // what its language says; nil when that is nothing
	Sends    []Unsent              // what it still has to send
	Place    *storage.LimitedError // the limit by which there is no place for it; nil when there is one
}

// Diagnose asks a store about a run. The caller has the definition, and fills in what the run's language reports.
func Diagnose(ctx context.Context, store storage.Store, run storage.Run) (*Diagnosis, error) {
	w := &Diagnosis{Run: run, Tokens: map[string]*storage.Token{}}
	owners, err := store.Owners(ctx)
	if err != nil {
		return nil, err
	}
	for i := range owners {
		if owners[i].ID == run.Owner {
			w.Owner = &owners[i]
		}
	}
	if err := w.readAtoms(ctx, store); err != nil {
		return nil, err
	}
	if w.Timers, err = store.RunTimers(ctx, run.ID); err != nil {
		return nil, err
	}
	tokens, err := store.RunTokens(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	for i := range tokens {
		w.Tokens[tokens[i].Path] = &tokens[i]
	}
	if _, w.Messages, err = storage.AllMessages(ctx, store, run.ID); err != nil {
		return nil, err
	}
	if w.Sends, err = UnsentOf(ctx, store, run.ID); err != nil {
		return nil, err
	}
	if w.Place, err = store.Limited(ctx, run.ID); err != nil {
		return nil, err
	}
	return w, nil
}

// mostWaits is how many atoms that are in the middle of something are told of.
const mostWaits = 1000

// readAtoms reads the atoms that are in the middle of something.
func (w *Diagnosis) readAtoms(ctx context.Context, store storage.Reader) error {
	if w.Run.State.Ended() && w.Run.Undo != storage.UndoFailed {
		return nil // none is
	}
	for a, err := range storage.EachAtom(ctx, store, w.Run.ID, storage.AtomQuery{}) {
		if err != nil {
			return err
		}
		switch {
		case !inMiddle(&a):
		case len(w.Atoms) < mostWaits:
			a.Spec, a.Input, a.Note, a.Result, a.RevertResult = nil, storage.Held{}, storage.Held{}, storage.Held{}, storage.Held{}
			w.Atoms = append(w.Atoms, a)
		default:
			w.More++
		}
	}
	return nil
}

// inMiddle reports whether an atom is in the middle of something: what only holds
// others is not.
func inMiddle(a *storage.Atom) bool {
	if a.Path == flow.GrowingPath || a.Kind == storage.KindFork || a.Kind == storage.KindFlow {
		return false
	}
	switch a.State {
	case states.TaskRunning, states.TaskRetrying, states.TaskReverting, states.TaskRevertFailure:
		return true
	default:
		return false
	}
}

// Alive reports whether a live process moves the run.
func (w *Diagnosis) Alive() bool { return w.Owner != nil && w.Owner.Alive }
