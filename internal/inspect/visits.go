package inspect

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Visit is a visit of a state in JSON, as `ebb show -o json` prints it. Secrets are masked. Times are in UTC.
type Visit struct {
	Path    string    `json:"path"`              // place in the run, such as "Ship[3]/Pack#2"
	State   string    `json:"state"`             // name of the state
	Type    string    `json:"type"`              // type of the state in the language, such as "Choice"
	Status  string    `json:"status"`            // RUNNING, SUCCESS, FAILURE or CANCELLED
	Caught  bool      `json:"caught,omitempty"`  // it failed, and a catcher chose the next state
	Entered int64     `json:"entered,omitempty"` // number of the event that began the visit, see [Event]
	Started time.Time `json:"started,omitzero"`  // when it began
	Ended   time.Time `json:"ended,omitzero"`    // when it ended
	Failure *Failure  `json:"failure,omitempty"` // why it failed

	// All below only for a given state
	Undo      string     `json:"undo,omitempty"`      // status of its [Atom] if the run was undone; else ""
	Input     atom.Value `json:"input,omitempty"`     // input of the state
	Sees      atom.Value `json:"sees,omitempty"`      // variables that it sees: those on entry
	Result    atom.Value `json:"result,omitempty"`    // what its task returned last
	Output    atom.Value `json:"output,omitempty"`    // output of the state
	Variables atom.Value `json:"variables,omitempty"` // variables that it set
	Attempts  []Attempt  `json:"attempts,omitempty"`  // attempts of its task; at most the last 100
	Calls     []Atom     `json:"calls,omitempty"`     // of a state that makes several: its calls; at most the last 100

	called []string // paths of the calls
}

// An Attempt is one attempt of the task of a state.
type Attempt struct {
	Attempt int        `json:"attempt"`           // number, from 1
	Started time.Time  `json:"started"`           // when it began
	Ended   time.Time  `json:"ended,omitzero"`    // when it ended
	Input   atom.Value `json:"input,omitempty"`   // what the task was given
	Failure *Failure   `json:"failure,omitempty"` // why it failed
}

// mostAttempts is the number of attempts of a visit that are kept.
//
//limit:shown `ebb show --state`: attempts or calls of a visit | {} | the last ones
const mostAttempts = 100

// Visits yields the visits of states of a run in the order in which they ended, and then those that have not ended.
//
// If of is not empty, it selects visits, and they have values. It is the name of a state, the path of a visit such
// as "Ship[3]/Pack#2", or the path of an iteration or branch such as "Ship[3]", which selects the visits inside.
//
// Visits reads the history page by page, and ends with the store's error if the store fails. Without a tracer, atoms
// are the visits, selected likewise.
func Visits(ctx context.Context, store backend.Reader, run *storage.Run, tracer grow.Tracer,
	of string,
) iter.Seq2[Visit, error] {
	return func(yield func(Visit, error) bool) {
		if tracer == nil {
			atomVisits(ctx, store, run, of, yield)
			return
		}
		r := &visitReader{secrets: &run.Secrets, of: of, open: map[string]*Visit{}, variables: variables{}}
		for e, err := range storage.EachEntry(ctx, store, run.ID, 0) {
			if err != nil {
				yield(Visit{}, err)
				return
			}
			if e.Kind != storage.EntryEvent {
				r.call(&e)
				continue
			}
			for _, v := range Traced(tracer, &e) {
				if ended := r.read(&v, &e); ended != nil {
					err := r.complete(ctx, store, run, ended)
					if !yield(*ended, err) {
						return
					}
				}
			}
		}
		for _, v := range slices.SortedFunc(maps.Values(r.open), func(a, b *Visit) int {
			return cmp.Compare(a.Entered, b.Entered)
		}) {
			err := r.complete(ctx, store, run, v)
			if !yield(*v, err) {
				return
			}
		}
	}
}

// A visitReader has the visits that have not ended.
type visitReader struct {
	secrets *storage.Secrets
	of      string            // selects visits; "" if all are read, without values
	open    map[string]*Visit // by path

	variables variables // followed only if a state is given
}

// read applies an event to a visit, and returns the visit if it has ended.
func (r *visitReader) read(v *grow.Visit, e *storage.Entry) *Visit {
	if v.State != "" && r.of != "" { // the states before, too, set what the given one sees
		r.variables.follow(v, e)
	}
	if v.State == "" || r.of != "" && !selects(r.of, v.State, v.Path) {
		return nil
	}
	at := e.Time.UTC()
	if v.Stage == grow.VisitEntered {
		r.open[v.Path] = &Visit{
			Path: v.Path, State: v.State, Type: v.Kind, Status: states.TaskRunning.String(), Entered: v.Entered,
			Started: at, Input: r.value(e.Body.Data),
		}
		if r.of != "" {
			r.open[v.Path].Sees = r.value(r.variables.seen(v.Level))
		}
		return nil
	}
	visit := r.open[v.Path]
	if visit == nil {
		return nil
	}
	switch v.Stage {
	case grow.VisitTried, grow.VisitDid, grow.VisitBroke:
		r.attempt(visit, v, e)
		return nil
	case grow.VisitLeft:
		visit.Output = r.value(e.Body.Data)
		if set, ok := e.Details.Field("assignedVariables"); ok {
			visit.Variables = r.value(set)
		}
	default:
	}
	visit.Status, visit.Ended, visit.Caught, visit.Failure = visitChange(v, at).To, at, v.Caught, FailureOf(v.Failure)
	delete(r.open, v.Path)
	return visit
}

// selects reports whether a state's name or a path, as [Visits] takes it, selects the visit of a state with that path.
func selects(of, state, path string) bool {
	if of == state || of == path {
		return true
	}
	_, _, isChild := nodepath.CutIndex(of)
	return isChild && strings.HasPrefix(path, of+"/")
}

// call records that the task of an open visit of the given state started, or an atom below the visit.
func (r *visitReader) call(e *storage.Entry) {
	if r.of == "" || e.Kind != storage.EntryAtom || states.Task(e.To) != states.TaskRunning {
		return
	}
	if v := r.open[e.Path]; v != nil && len(v.Attempts) > 0 { // a retry is scheduled before the pause
		v.Attempts[len(v.Attempts)-1].Started = e.Time.UTC()
	}
	for _, v := range r.open {
		if strings.HasPrefix(e.Path, nodepath.Escape(v.State)+"/") && !slices.Contains(v.called, e.Path) {
			if v.called = append(v.called, e.Path); len(v.called) > mostAttempts {
				v.called = slices.Delete(v.called, 0, 1)
			}
		}
	}
}

// complete reads the atoms of a visit of the given state.
func (r *visitReader) complete(ctx context.Context, store backend.Reader, run *storage.Run, v *Visit) error {
	if r.of == "" {
		return nil
	}
	atoms, err := store.AtomsAt(ctx, run.ID, v.Path)
	if err != nil {
		return err
	}
	for i := range atoms {
		switch status := atoms[i].Status(); status {
		case storage.StatusStaysDone, storage.StatusMayStayDone, storage.Status(states.TaskReverting.String()),
			storage.Status(states.TaskReverted.String()), storage.Status(states.TaskRevertFailure.String()):
			v.Undo = string(status)
		}
	}
	return v.readCalls(ctx, store, run)
}

// readCalls reads the atoms of the calls.
func (v *Visit) readCalls(ctx context.Context, store backend.Reader, run *storage.Run) error {
	for paths := range slices.Chunk(v.called, atomsAtOnce) {
		atoms, err := store.AtomsAt(ctx, run.ID, paths...)
		if err != nil {
			return err
		}
		slices.SortFunc(atoms, func(a, b storage.Atom) int {
			return cmp.Compare(slices.Index(paths, a.Path), slices.Index(paths, b.Path))
		})
		for i := range atoms {
			if k := atoms[i].Kind; k != storage.KindFork && k != storage.KindFlow {
				v.Calls = append(v.Calls, AtomOf(run, &atoms[i]))
			}
		}
	}
	return nil
}

// value returns a value with secrets masked, or nil if no state is given.
func (r *visitReader) value(v atom.Value) atom.Value {
	if r.of == "" || len(v) == 0 {
		return nil
	}
	return r.secrets.Mask("", v)
}

func (r *visitReader) attempt(visit *Visit, v *grow.Visit, e *storage.Entry) {
	n := len(visit.Attempts)
	switch {
	case r.of == "":
	case v.Stage == grow.VisitTried:
		a := Attempt{Attempt: 1, Started: e.Time.UTC(), Input: r.value(e.Body.Data)}
		if n > 0 {
			a.Attempt = visit.Attempts[n-1].Attempt + 1
		}
		if visit.Attempts = append(visit.Attempts, a); n >= mostAttempts {
			visit.Attempts = slices.Delete(visit.Attempts, 0, 1)
		}
	case n == 0:
	case v.Stage == grow.VisitDid:
		visit.Attempts[n-1].Ended, visit.Result = e.Time.UTC(), r.value(e.Body.Data)
	default:
		visit.Attempts[n-1].Ended, visit.Attempts[n-1].Failure = e.Time.UTC(), FailureOf(v.Failure)
	}
}

// atomVisits yields the atoms that are selected as visits.
func atomVisits(ctx context.Context, store backend.Reader, run *storage.Run, of string,
	yield func(Visit, error) bool,
) {
	if began, child, err := childBelow(ctx, store, run.ID, of); err != nil {
		yield(Visit{}, err)
		return
	} else if child != nil {
		for v, err := range Visits(ctx, store, child, nil, of[len(began)+1:]) {
			v.Path = began + "/" + v.Path
			if !yield(v, err) {
				return
			}
		}
		return
	}
	for a, err := range Atoms(ctx, store, run) {
		if err != nil {
			yield(Visit{}, err)
			return
		}
		state := nodepath.State(nodepath.Last(a.Path))
		if of == "" || !selects(of, state, a.Path) {
			continue
		}
		v := Visit{
			Path: a.Path, State: state, Type: a.Kind, Status: a.Status, Started: a.Started, Ended: a.Ended,
			Failure: a.Failure, Input: a.Input, Result: a.Result,
		}
		if a.Attempt > 1 {
			err = v.readAttempts(ctx, store, run)
		}
		if !yield(v, err) {
			return
		}
	}
}

// readAttempts adds the attempts of an atom from the history.
func (v *Visit) readAttempts(ctx context.Context, store backend.Reader, run *storage.Run) error {
	a, err := store.Atom(ctx, run.ID, v.Path)
	if err != nil {
		return err
	}
	all, _, err := AttemptsOf(ctx, store, run, &a)
	for i := range all {
		if one := &all[i]; !one.Undo && one.Incarnation == a.Incarnation {
			v.Attempts = append(v.Attempts, Attempt{
				Attempt: one.Number, Started: one.Began.UTC(), Ended: one.Ended.UTC(), Failure: FailureOf(one.Failure),
			})
		}
	}
	if n := len(v.Attempts); n > 0 { // an undo came later
		v.Started, v.Ended = v.Attempts[0].Started, v.Attempts[n-1].Ended
	}
	return err
}
