package inspect

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

const (
	// attemptLines is the maximum number of lines that AttemptsOf reads of a history, the latest ones.
	attemptLines = 20_000
	// KeptAttempts is the maximum number of attempts that AttemptsOf returns, the latest ones.
	KeptAttempts = 50
)

// An AtomAttempt is one attempt of an atom, or all attempts of its revert. A zero time is not known, or has not come.
type AtomAttempt struct {
	Number      int  // of the attempt, from 1; of a revert, how many attempts there were
	Incarnation int  // of the atom, from 0
	Undo        bool // it is the revert: a history has one line for all attempts of it
	Began       time.Time
	Ended       time.Time
	Retried     bool          // it failed, and was retried
	Failure     *atom.Failure // why it failed; nil if it did not, and of a revert
	Result      atom.Value    // of an attempt that succeeded; secrets are masked
}

// AttemptsOf returns the latest attempts of an atom of a run, in order, from the history. It reads only the latest
// lines of the history. more says that there may be earlier attempts. Errors are the store's.
func AttemptsOf(ctx context.Context, store backend.Reader, run *storage.Run, a *storage.Atom) (
	all []AtomAttempt, more bool, err error,
) {
	passed := a.Spec == nil && a.UndoPasses()
	after := max(0, run.Entries-attemptLines)
	for e, err := range storage.EachEntry(ctx, store, run.ID, after) {
		if err != nil {
			return nil, false, err
		}
		if e.Kind != storage.EntryAtom || e.Path != a.Path || passed && ofRevert(states.Task(e.To)) {
			continue
		}
		if all = attempted(all, run, &e); len(all) > KeptAttempts {
			all, more = all[1:], true
		}
	}
	if n := len(all); n > 0 && all[n-1].Undo {
		all[n-1].Number = a.RevertAttempt + 1
	}
	return all, more || after > 0, nil
}

func ofRevert(to states.Task) bool {
	return to == states.TaskReverting || to == states.TaskReverted || to == states.TaskRevertFailure
}

// attempted adds a line of the history of an atom to its attempts.
func attempted(all []AtomAttempt, run *storage.Run, e *storage.Entry) []AtomAttempt {
	from, to := states.Task(e.From), states.Task(e.To)
	now := AtomAttempt{Number: max(e.Attempt, 1), Incarnation: e.Incarnation, Undo: ofRevert(to)}
	last := &AtomAttempt{}
	if n := len(all); n > 0 && all[n-1].Undo == now.Undo && all[n-1].Incarnation == now.Incarnation {
		last = &all[n-1]
	}
	switch {
	case to == states.TaskRunning, to == states.TaskReverting && from != to:
		now.Began = e.Time
		return append(all, now)
	case to == states.TaskPending, to == states.TaskIgnore:
		return all // it was reset, or left out
	}
	switch {
	case !last.Began.IsZero() && last.Ended.IsZero():
		now.Began, all = last.Began, all[:len(all)-1]
	case last.Number == now.Number: // it had ended, and then changed again
		last.Retried = last.Retried || to == states.TaskRetrying
		return all
	}
	if now.Ended = e.Ended; now.Ended.IsZero() {
		now.Ended = e.Time
	}
	now.Failure, now.Retried = e.Failure, to == states.TaskRetrying
	if to == states.TaskSuccess {
		now.Result = run.Secrets.Mask(e.Path, e.Body.Data)
	}
	return append(all, now)
}
