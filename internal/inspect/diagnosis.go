package inspect

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Diagnosis explains why a run is in its current state: which process drives it, what it waits for, and which
// messages it still has to send. [Diagnose] creates it from a store.
type Diagnosis struct {
	Run      storage.Run               // record of the run
	Owner    *storage.Owner            // process that drives or last drove the run; nil if there is none
	Server   *storage.Owner            // process that takes up the run when it is due, see [Server]; nil if none is known
	Busy     string                    // why Server takes up no run now, see [engine.Presence]; "" if it does
	Slots    int                       // slots of Server; 0 if unknown
	Changed  *storage.Owner            // process whose flow has this name, but another structure; nil if none is known
	Barred   string                    // why the database takes no writes; "" if it does, or if that is not known
	Refusal  *RunRefusal               // why a process has refused the run; nil if none has
	Needs    []string                  // what the run needs, such as gpu=a100, if no process offers it
	Grows    bool                      // its flow grows while it runs
	Causes   []*atom.Failure           // why the run was undone, if its undo failed: failures of atoms, at most 3
	Listens  bool                      // its flow grows, and listens for a message while no atom is in progress
	Atoms    []storage.Atom            // atoms in progress, at most 1,000, without inputs and results
	More     int                       // number of atoms in progress beyond those in Atoms
	Timers   []storage.TimerRow        // timers of the run that have not fired
	Tokens   map[string]*storage.Token // open tokens of the run, by the path of the atom that waits
	Pollers  map[string][]string       // workers that ask for the work of each queue; nil if that is not known
	Messages []storage.Message         // first messages in the inbox that the run has not read, without what they carry
	Unread   int64                     // number of messages in the inbox
	// Machine is what the run waits for in the terms of its language. The caller of [Diagnose] sets it.
	Machine *grow.Waiting
	Failed  []FailedState         // states whose failure ended the run, see [Ending] and Trace
	Last    *LastState            // state in which the run succeeded, see [Last] and Trace
	Undo    Undo                  // what the undo of the run has come to so far
	Sends   []Unsent              // messages in the outbox that the run still has to send
	Place   *storage.LimitedError // the limit for which the run waits; nil if there is none
	Fits    map[string]string     // a value, as JSON, that ends the atom with that path, if its type excludes null
}

// Diagnose returns why a run is in its current state, from a store. It does not set Machine: a caller that has the
// run's definition asks the language. Errors are the store's.
func Diagnose(ctx context.Context, store backend.Store, run storage.Run) (*Diagnosis, error) {
	return new(Undos).Diagnose(ctx, store, run)
}

// Diagnose is the function [Diagnose], but does not read an undo again that is remembered.
func (u *Undos) Diagnose(ctx context.Context, store backend.Store, run storage.Run) (*Diagnosis, error) {
	w := &Diagnosis{Run: run, Tokens: map[string]*storage.Token{}}
	f, err := readFacts(ctx, store)
	if err != nil {
		return nil, err
	}
	refusal, err := f.refusalOf(ctx, store, &run)
	if err != nil {
		return nil, err
	}
	f.place(w, refusal)
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
	if w.Unread, w.Messages, err = store.Unread(ctx, run.ID, mostMessages); err != nil {
		return nil, err
	}
	if w.Sends, err = UnsentOf(ctx, store, run.ID); err != nil {
		return nil, err
	}
	if err := w.readAwaited(ctx, store); err != nil {
		return nil, err
	}
	if w.Place, err = store.Limited(ctx, run.ID); err != nil {
		return nil, err
	}
	if run.Undo != storage.UndoNone || run.Outcome != storage.Unfinished && run.Outcome != storage.Succeeded {
		if w.Undo, err = u.Of(ctx, store, &run); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// mostMessages is the maximum number of messages in the inbox in a Diagnosis.
//
//limit:shown `ebb why`: messages in the inbox | {} | counted
const mostMessages = 100

// readAwaited reads which values fit the atoms that another party ends.
func (w *Diagnosis) readAwaited(ctx context.Context, store storage.NamedRecords) error {
	stored, err := store.NamedRecord(ctx, awaited.RecordKind, w.Run.Structure)
	if w.Run.Definition != "" || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	types := awaited.Read(stored.Body.JSON())
	w.Fits = map[string]string{}
	for i := range w.Atoms {
		if path := w.Atoms[i].Path; w.Atoms[i].State == states.TaskRunning {
			w.Fits[path] = types.Example(path)
		}
	}
	return err
}

// mostWaits is the maximum number of atoms in progress in a Diagnosis.
//
//limit:shown `ebb why`: atoms in progress | {} | counted
const mostWaits = 1000

// mostCauses is the maximum number of causes of an undo in a Diagnosis.
const mostCauses = 3

// readAtoms reads the atoms in progress.
func (w *Diagnosis) readAtoms(ctx context.Context, store backend.Reader) error {
	if w.Run.State.Ended() && w.Run.Undo != storage.UndoFailed {
		return nil // none is
	}
	for a, err := range storage.EachAtom(ctx, store, w.Run.ID, storage.AtomQuery{}) {
		if err != nil {
			return err
		}
		if cause := undoCause(&a); cause != nil && w.Run.State.Ended() && len(w.Causes) < mostCauses {
			w.Causes = append(w.Causes, cause)
		}
		w.Grows, w.Listens = w.Grows || a.Path == flow.GrowingPath, w.Listens || listens(&a)
		switch {
		case !inMiddle(&a):
		case len(w.Atoms) < mostWaits:
			a.Input, a.Note, a.Result, a.RevertResult = storage.Held{}, storage.Held{}, storage.Held{}, storage.Held{}
			a.Spec = taskOf(a.Spec)
			w.Atoms = append(w.Atoms, a)
		default:
			w.More++
		}
	}
	return nil
}

// undoCause returns the failure of an atom because of which its run was undone; nil if there is none.
func undoCause(a *storage.Atom) *atom.Failure {
	if a.Failure == nil || a.Ended != grow.EndFailure || a.Kind != storage.KindTask && a.Kind != storage.KindRun {
		return nil
	}
	cause := *a.Failure
	cause.Atom = a.Path
	return &cause
}

// CauseOfUndo returns the first failure because of which a run was undone, for lists; nil if that is not known. It
// looks at a bounded number of atoms. Errors are the store's.
func CauseOfUndo(ctx context.Context, store backend.Reader, run string) (*atom.Failure, error) {
	list, err := store.Atoms(ctx, run, storage.AtomQuery{Limit: mostWaits})
	for i := range list {
		if cause := undoCause(&list[i]); cause != nil {
			return cause, err
		}
	}
	return nil, err
}

// taskOf returns the spec of a node of a growing flow with nothing but the name of its task.
func taskOf(spec atom.Value) atom.Value {
	var of struct {
		Task string `json:"task,omitempty"`
	}
	if spec == nil || spec.Decode(&of) != nil || of.Task == "" {
		return nil
	}
	return atom.MustEncode(of)
}

// listens reports whether the record of a growing flow says that the run waits for a message.
func listens(a *storage.Atom) bool { return a.Path == flow.GrowingPath && a.Ended == grow.EndDeferred }

// inMiddle reports whether an atom is in progress. An atom that only contains others is not.
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

// Alive reports whether a live process drives the run.
func (w *Diagnosis) Alive() bool { return w.Owner != nil && w.Owner.Alive }
