package storage

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A Status is what every view shows of an atom: the text of its state, or [StatusStaysDone] or [StatusMayStayDone].
// The states are TaskFlow's: an atom is REVERTED even if nothing reverted it. The status of such an atom says instead
// that its effect stays done, that it failed, or that it only computed.
type Status string

// The statuses that are not also states.
const (
	StatusStaysDone   Status = "STAYS_DONE"    // the run was undone, and nothing reverts what the atom did
	StatusMayStayDone Status = "MAY_STAY_DONE" // as StatusStaysDone, but whether the atom had its effect is not known
)

// Status returns the status of the atom. Every view calls it.
func (a *Atom) Status() Status {
	passed := a.State == states.TaskReverted || a.State == states.TaskReverting
	if passed && a.neverCalled() {
		return Status(states.TaskCancelled.String())
	}
	// The undo leaves a grown atom in its state. An atom of a plan has the intention before the undo comes to it.
	if a.Undo == UndoReverts && !a.untaken() || !passed && (a.Spec == nil || a.Intention != states.IntendRevert) {
		return Status(a.State.String())
	}
	switch {
	case a.Undo == UndoLeaves && a.Ended == grow.EndValue:
		return StatusStaysDone
	case a.Undo == UndoLeaves && a.Attempt > 0 && a.unknown():
		return StatusMayStayDone
	case !passed:
		return Status(a.State.String())
	case a.Ended == grow.EndValue:
		return Status(states.TaskSuccess.String())
	case a.Ended == grow.EndFailure || a.Ended == grow.EndHandled:
		return Status(states.TaskFailure.String())
	default:
		return Status(states.TaskCancelled.String())
	}
}

// UndoPasses reports whether an undo of the atom's run reverts nothing of it: nothing reverts it, or it was not called.
// It was then cancelled before, or no worker took its work, or it lacked a value. Its state is REVERTED nevertheless.
func (a *Atom) UndoPasses() bool { return a.Undo != UndoReverts || a.neverCalled() || a.untaken() }

// untaken reports whether a task failed, and was not called: see [atom.Failure.Untaken].
func (a *Atom) untaken() bool {
	return (a.Ended == grow.EndFailure || a.Ended == grow.EndHandled) && a.Failure.UntakenAt(a.Path)
}

// neverCalled reports whether a task was cancelled while it waited for its first call, or a node before its run had
// done anything.
func (a *Atom) neverCalled() bool {
	if a.Ended != grow.EndFailure || a.Failure == nil || a.Failure.Code != atom.CodeCancelled {
		return false
	}
	return a.Kind == KindTask && a.Attempt == 0 || a.Kind == KindRun && a.Failure.Untaken
}

// LeftEffect reports whether the latest attempt of an atom of an ended run has an effect, or may have one, that was not
// undone.
func (a *Atom) LeftEffect() bool {
	switch {
	case a.Kind != KindTask && a.Kind != KindRun || a.Undo == UndoNothing || a.Attempt == 0:
		return false
	case a.Undo == UndoReverts && (a.State == states.TaskReverted || a.untaken()):
		return false
	default:
		return a.Ended == grow.EndValue || a.unknown()
	}
}

// unknown reports whether it is not known whether the latest attempt had its effect.
func (a *Atom) unknown() bool {
	switch a.Ended {
	case grow.EndValue:
		return false
	case grow.EndFailure, grow.EndHandled:
		return a.Failure.LeavesUnknown(a.Kind == KindRun)
	default:
		return a.State != states.TaskRunning && a.State != states.TaskRetrying
	}
}

// Status returns the status that an entry of the history gives its atom. Only entries of atoms have one.
func (e *Entry) Status() Status {
	switch e.Kind {
	case EntryStays:
		return StatusStaysDone
	case EntryMayStay:
		return StatusMayStayDone
	case EntryAtom:
		return Status(states.Task(e.To).String())
	default:
		return ""
	}
}

// AsksPerson reports whether the run's language says that a person must decide how the run continues, while the run is
// open. The run's failure says about what.
func (r *Run) AsksPerson() bool {
	return r.Outcome == Unfinished && r.Undo == UndoFailed && r.Failure != nil && r.Failure.Code == atom.CodeNeedsPerson
}

// NeedsPerson reports whether a person must decide before the run continues: its undo failed, its language asks a
// person, or it was suspended because of a failure, such as a run that kills its processes. A run that an operator
// suspended needs no person.
func (r *Run) NeedsPerson() bool {
	return r.Undo == UndoFailed || r.State == states.FlowSuspended && r.Failure != nil && r.Outcome == Unfinished
}
