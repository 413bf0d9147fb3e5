package scheduler

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A Unit is a piece of work with a record of its own. It is an atom of the plan, or a node or child flow by which a
// growing flow has grown. TaskFlow's rules say when an atom of the plan starts and what its failure means (wave,
// resolve). The answers of its language say that of a grown unit (grow, ask). How a unit waits, is called, is withdrawn
// and ends is the same for both.
type Unit struct {
	Path    string
	Rec     Record
	Planned *flow.PlanAtom // the atom of the plan; nil if the unit has grown
	Node    *Node          // the node that has grown; nil for other units
	Child   *Scope         // the child flow that has grown; nil for other units
	Index   int32          // of the atom in the plan; -1 if the unit has grown

	queue     queue // where its first attempt waits to be begun
	executing bool  // its call, or the call of its undo, has not ended
	external  bool  // another party ends it or its undo, and it counts as a wait
	withdrawn bool  // a Withdraw was not answered
}

// planned returns the units of the atoms of a plan.
func planned(plan *flow.Plan) []Unit {
	units := make([]Unit, len(plan.Atoms))
	for i := range units {
		a := &plan.Atoms[i]
		units[i].Path, units[i].Planned, units[i].Index = a.Name(), a, int32(i)
	}
	return units
}

// Grown returns the node that has grown; nil for other units, and for no unit.
func (u *Unit) Grown() *Node {
	if u == nil {
		return nil
	}
	return u.Node
}

// Reverts reports whether the unit can be undone. If it begins a run, that run is undone with it.
func (u *Unit) Reverts() bool {
	switch {
	case u.Planned != nil:
		return u.Planned.Reverts()
	case u.Node != nil:
		return u.Node.Spec.Reverts()
	default:
		return false
	}
}

// BeginsRun reports whether the unit begins a run.
func (u *Unit) BeginsRun() bool {
	if u.Planned != nil {
		return u.Planned.Run != nil
	}
	return u.Node != nil && u.Node.Spec.Kind == grow.Nested
}

// IsRetry reports whether the unit is a retry of the plan.
func (u *Unit) IsRetry() bool { return u.Planned != nil && u.Planned.Kind() == atom.KindRetry }

// Inner reports whether the unit is a flow, and no work of its own.
func (u *Unit) Inner() bool {
	if u.Planned != nil {
		return u.Planned.Language != nil
	}
	return u.Node == nil || u.Node.Spec.Kind == grow.Fork
}

// Ended returns the event for the end of an attempt of the unit, without how it ended.
func (u *Unit) Ended() Event { return Event{Kind: Completed, Unit: u} }

// AwaitsRun reports whether the undo of the unit waits for the end of its run, see [AwaitRun].
func (u *Unit) AwaitsRun() bool {
	n := u.Node
	return n != nil && u.external && !u.Awaits() && n.Spec.Undo != nil && n.Spec.Undo.Stays
}

// called reports whether an attempt of the unit starts with the call of a task.
func (u *Unit) called() bool {
	if p := u.Planned; p != nil {
		return p.Language == nil && p.Run == nil && p.Signal() == ""
	}
	return u.Node.Spec.Kind == grow.Work && (u.Node.Spec.Task != "" || u.Node.Spec.Token == "")
}

// Interrupted reports whether the process died that made the call of the unit, and the call was not made again yet.
func (u *Unit) Interrupted() bool {
	return u.Rec.State == states.TaskRunning && !u.executing && !u.Awaits() && u.called()
}

// Awaits reports whether another party ends the unit.
func (u *Unit) Awaits() bool { return u.Rec.Awaits() }

// Executes reports whether the call of the unit, or of its undo, has not ended.
func (u *Unit) Executes() bool { return u.executing }

// NotCalled reports whether no attempt of the unit was called.
func (u *Unit) NotCalled() bool { return u.queue == callQueue }

// MarkCalled tells the scheduler that the call of the unit is being made. What is cancelled before has not done
// anything.
func (u *Unit) MarkCalled() { u.queue = begunQueue }

// MarkQueued tells the scheduler that workers take the attempt of the unit from a queue.
func (u *Unit) MarkQueued() { u.queue = workQueue }

// takeBack takes the attempt of the unit back if no call of it was ever made. Then there is nothing to undo, and
// nothing stays done.
func (u *Unit) takeBack() {
	if u.queue == callQueue {
		u.queue, u.Rec.Attempt = begunQueue, 0
	}
}

// write stores the record of a unit, and notifies no observer.
func (s *Scheduler) write(u *Unit) { s.emit(Command{Op: Write, Unit: u, Rec: u.Rec}) }

// makeCall counts the call of a unit, or of its undo, until its end comes with Completed.
func (s *Scheduler) makeCall(u *Unit) {
	u.executing = true
	s.inFlight.busy++
}
