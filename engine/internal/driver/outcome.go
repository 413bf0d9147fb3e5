package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// recordOutcome adds the run's pending outcome and failure to the next commit.
func (r *run) recordOutcome(cmd *scheduler.Command) {
	if r.Draft.Head.AsksPerson() {
		r.Draft.Head.Undo = storage.UndoNone
	}
	r.Draft.Head.Outcome = outcomes[cmd.PendingOutcome]
	r.Draft.Head.Failure, r.Draft.Dirty = nil, true
	if len(cmd.Failures) > 0 {
		r.Draft.Head.Failure = cmd.Failures[0]
	}
}

// recordPerson adds to the next commit that a person must decide about the run, or need not any longer. If the run is
// being ended, that is decided.
func (r *run) recordPerson(cmd *scheduler.Command) {
	h := &r.Draft.Head
	switch {
	case h.Outcome != storage.Unfinished:
	case len(cmd.Failures) > 0:
		h.Undo, h.Failure, r.Draft.Dirty = storage.UndoFailed, cmd.Failures[0], true
		r.env.Log.Warn(logevent.RunNeedsPerson, "run", r.Claim.Run, "flow", r.about.Flow, "message", h.Failure.Message,
			"needs_person", true)
	case h.AsksPerson():
		h.Undo, h.Failure, r.Draft.Dirty = storage.UndoNone, nil, true
	}
}

var outcomes = [...]storage.Outcome{
	scheduler.NothingPending: storage.Unfinished, scheduler.PendingTimedOut: storage.TimedOut,
	scheduler.PendingCancelled: storage.Cancelled,
	scheduler.PendingFailed:    storage.FailedOutcome,
}

// pendingOf returns the pending outcome and failure that were stored for a run
// that has not ended.
func pendingOf(run *storage.Run) (scheduler.PendingOutcome, *atom.Failure) {
	if run.State.Ended() {
		return scheduler.NothingPending, nil
	}
	switch run.Outcome {
	case storage.TimedOut:
		return scheduler.PendingTimedOut, run.Failure
	case storage.Cancelled:
		return scheduler.PendingCancelled, run.Failure
	case storage.FailedOutcome:
		return scheduler.PendingFailed, run.Failure
	default:
		return scheduler.NothingPending, nil
	}
}
