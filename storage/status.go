package storage

import "github.com/ebbflow/ebb/states"

// A Status is what became of an atom, as people are told of it: the text of its state, or [StatusStaysDone] or
// [StatusMayStayDone]. A state is TaskFlow's, which calls an atom REVERTED also if nothing reverted it. The status of
// such an atom says what is true: what it did stays done, or it failed, or it only computed.
type Status string

// The statuses that are no states.
const (
	StatusStaysDone   Status = "STAYS_DONE"    // the run was undone, and nothing reverts what the atom did
	StatusMayStayDone Status = "MAY_STAY_DONE" // as StatusStaysDone, but whether the atom had its effect is not known
)

// Status returns what became of the atom. Every view calls it.
func (a *Atom) Status() Status {
	passed := a.State == states.TaskReverted || a.State == states.TaskReverting
	if a.Undo == UndoReverts || !passed && a.Intention != states.IntendRevert {
		return Status(a.State.String())
	}
	switch {
	case a.Undo == UndoLeaves && a.Ended == EndValue:
		return StatusStaysDone
	case a.Undo == UndoLeaves && a.Attempt > 0 && a.unknown():
		return StatusMayStayDone
	case !passed:
		return Status(a.State.String())
	case a.Ended == EndValue:
		return Status(states.TaskSuccess.String())
	case a.Ended == EndFailure || a.Ended == EndHandled:
		return Status(states.TaskFailure.String())
	default:
		return Status(states.TaskCancelled.String())
	}
}

// unknown reports whether it is not known whether the latest attempt had its effect.
func (a *Atom) unknown() bool {
	switch a.Ended {
	case EndValue:
		return false
	case EndFailure, EndHandled:
		return a.Failure == nil || a.Failure.Unknown()
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

// NeedsPerson reports whether the run goes on only if a person decides about it: its undo failed, or it was suspended
// because of a failure, such as a run that kills its processes. A run that an operator suspended does not need one.
func (r *Run) NeedsPerson() bool {
	return r.Undo == UndoFailed || r.State == states.FlowSuspended && r.Failure != nil && r.Outcome == Unfinished
}
