package attempts

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Parents yields the units that may have begun a child run: the open nodes that begin runs, and the atoms of the plan
// that do.
func (t *Table) Parents(yield func(*scheduler.Unit) bool) {
	for n := range t.s.Open {
		if n.BeginsRun() && !yield(&n.Unit) {
			return
		}
	}
	for i := range t.plan.Atoms {
		if u := t.s.Unit(int32(i)); u.BeginsRun() && !yield(u) {
			return
		}
	}
}

// AwaitRun makes a unit wait for the end of a run.
func (t *Table) AwaitRun(id string, u *scheduler.Unit) { t.runs[id] = u }

// DropRun makes no unit wait for the end of a run.
func (t *Table) DropRun(id string) { delete(t.runs, id) }

// ParentOf returns the unit that waits for the end of a run; nil if none does.
func (t *Table) ParentOf(id string) *scheduler.Unit { return t.runs[id] }

// Runs returns the number of runs whose ends units wait for.
func (t *Table) Runs() int { return len(t.runs) }

// RunOf returns the id of the run of the present attempt of a unit: the one that it begins, or the run that continues
// that one.
func (t *Table) RunOf(u *scheduler.Unit) string {
	if id := t.draft.Successor(u); id != "" {
		return id
	}
	incarnation, attempt := int(u.Rec.Incarnation), int(u.Rec.Attempt)
	if u.Node != nil {
		return backend.ChildID(t.run, u.Path, incarnation, attempt, u.Node.Spec.Child)
	}
	return backend.PlannedChildID(t.run, u.Path, incarnation, attempt)
}

// ChildOf returns which run a unit begins.
func ChildOf(u *scheduler.Unit) *grow.Child {
	if u.Node != nil {
		return u.Node.Spec.Child
	}
	run := u.Planned.Run
	return &grow.Child{Flow: run.Plan.Flow, Structure: run.Plan.Hash, Detached: run.Detached}
}

// IsUndone reports whether a unit is being undone, or waits for what its run has done.
func IsUndone(u *scheduler.Unit) bool { return u.Rec.State == states.TaskReverting || u.AwaitsRun() }

// Undone returns the event for the end of the undo of a unit that begins a run, or for what AwaitRun asks about it.
func Undone(u *scheduler.Unit) scheduler.Event {
	if u.AwaitsRun() {
		return scheduler.Event{Kind: scheduler.RunKnown, Unit: u, Revert: true}
	}
	ev := u.Ended()
	ev.Revert, ev.Result = true, atom.Null
	return ev
}

// Begun returns the event with which the scheduler learns that the run of a unit exists; false if it needs not, because
// it waits for the end of the run.
func Begun(u *scheduler.Unit, id string) (ev scheduler.Event, tell bool) {
	ev = u.Ended()
	switch token := u.Node != nil && u.Node.Spec.Token != ""; {
	case u.Node != nil && u.Node.Spec.Report:
		ev.Kind = scheduler.Deferred
	case ChildOf(u).Detached && !token:
		ev.Result = atom.MustEncode(id)
	default:
		return ev, false
	}
	return ev, true
}

// RunEnds is what a run is told about the outcome of its child run.
var RunEnds = [...]grow.RunEnd{
	storage.Unfinished: grow.RunOpen, storage.Succeeded: grow.RunSucceeded, storage.FailedOutcome: grow.RunFailed,
	storage.TimedOut: grow.RunTimedOut, storage.Cancelled: grow.RunCancelled, storage.Continued: grow.RunOpen,
}

// runEnd returns how a child run ended, from its message. Messages of earlier versions of Ebb do not say it.
func runEnd(m *storage.Message) (end grow.RunEnd) {
	if err := m.Note.Decode(&end); err == nil && end > grow.RunOpen && end <= grow.RunCancelled {
		return end
	}
	if m.Failure != nil {
		return grow.RunFailed
	}
	return grow.RunSucceeded
}

// RunEnded returns the event for the end of the child run of a unit, from the message about it.
func RunEnded(u *scheduler.Unit, m *storage.Message) scheduler.Event {
	ev := u.Ended()
	ev.Result, ev.Failure, ev.RunEnd = m.Body, m.Failure, runEnd(m)
	if ev.Failure != nil && ev.Failure.Untaken { // that is about a task of the child, which may have done others
		f := *ev.Failure
		f.Untaken = false
		ev.Failure = &f
	}
	return ev
}

// Fit makes the end of the run of an atom of the plan the end of that atom. Its failure names the atom by its path in
// this run, which begins with that of the atom. If the output of the run cannot be the result of the atom, it fails.
func Fit(ev *scheduler.Event, u *scheduler.Unit) {
	if u.Planned == nil {
		return
	}
	if ev.Failure != nil {
		f := *ev.Failure
		if f.Atom != "" {
			f.Atom = "/" + clip.Ends(f.Atom, clip.Path)
		}
		f.Atom = u.Path + f.Atom
		ev.Failure = &f
		return
	}
	ev.Result = ValueOf(ev.Result)
	if err := fits(u.Planned, ev.Result); err != nil {
		ev.Result, ev.Failure = nil, badResult(u, "the output of the run is no result of the atom", err)
	}
}
