package inspect

import (
	"context"
	"slices"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A FailedState is a state whose failure ended a run, or a state around it.
type FailedState struct {
	Path     string     `json:"path"`               // place in the run, such as "Ship[3]/Pack#2"
	State    string     `json:"state"`              // name of the state
	Type     string     `json:"type"`               // type of the state in the language, such as "Task"
	Attempts int        `json:"attempts,omitempty"` // attempts of its task that began
	Failure  *Failure   `json:"failure,omitempty"`  // why it failed; nil if the failure is the run's
	Retries  [][]string `json:"retriers,omitempty"` // errors that its retriers name, in order
	Catches  [][]string `json:"catchers,omitempty"` // errors that its catchers name, in order; none applied
}

// mostFailed is the maximum number of states through which a failure is followed.
const mostFailed = 20

// Ending returns the states whose failure ended a run, the innermost first. It returns none for a run that has not
// failed or that Ebb itself ended, and none without a tracer. Handlers returns the errors that the retriers and
// catchers of a state name. It reads the events page by page; errors are the store's.
func Ending(ctx context.Context, store backend.Reader, run *storage.Run, tracer grow.Tracer,
	handlers func(state string) (retries, catches [][]string),
) ([]FailedState, error) {
	if tracer == nil || !run.State.Ended() || run.Failure == nil || run.Failure.EndsRun() {
		return nil, nil
	}
	var failed []FailedState
	tries := map[string]int{} // of the open visits, by path
	for e, err := range storage.EachEvent(ctx, store, run.ID, storage.EventQuery{}) {
		if err != nil {
			return nil, err
		}
		for _, v := range Traced(tracer, &e) {
			switch v.Stage {
			case grow.VisitEntered: // perhaps again, after a redrive
				failed = slices.DeleteFunc(failed, func(f FailedState) bool { return f.Path == v.Path })
			case grow.VisitTried, grow.VisitLeft: // failures inside are over
				failed = slices.DeleteFunc(failed, func(f FailedState) bool { return nodepath.Inside(f.Path, v.Path) })
			case grow.VisitFailed:
				if v.State != "" && len(failed) < mostFailed {
					failed = append(failed, FailedState{
						Path: v.Path, State: v.State, Type: v.Kind, Attempts: tries[v.Path], Failure: FailureOf(v.Failure),
					})
				}
			default:
			}
			switch v.Stage {
			case grow.VisitTried:
				tries[v.Path]++
			case grow.VisitLeft, grow.VisitFailed, grow.VisitAborted:
				delete(tries, v.Path)
			default:
			}
		}
	}
	for i := range failed {
		failed[i].Retries, failed[i].Catches = handlers(failed[i].State)
	}
	return failed, nil
}

// Trace adds to the diagnosis of a run how it ended, as [Ending] and [Last] find it.
func (w *Diagnosis) Trace(ctx context.Context, store backend.Reader, tracer grow.Tracer,
	handlers func(state string) (retries, catches [][]string),
) (err error) {
	if w.Last, err = Last(ctx, store, &w.Run, tracer); err != nil {
		return err
	}
	w.Failed, err = Ending(ctx, store, &w.Run, tracer, handlers)
	return err
}

// Stopped reports whether a run ended as a cancellation requested: nothing of it was undone, or its undo did not fail.
// The state of such a run is FAILURE, although no work failed.
func Stopped(run *storage.Run) bool {
	return run.State == states.FlowFailure && run.Outcome == storage.Cancelled && run.Undo != storage.UndoFailed
}
