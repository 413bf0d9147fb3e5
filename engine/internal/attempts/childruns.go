package attempts

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Parents yields the units that may have begun a child run: the open nodes that begin runs, and the atoms of the plan
// that do.
func (t *Table) Parents() func(yield func(Unit) bool) {
	return func(yield func(Unit) bool) {
		for n := range t.s.Open {
			if n.Spec.Kind == flow.Nested && !yield(Unit{n, -1}) {
				return
			}
		}
		for i := range t.plan.Atoms {
			if t.plan.Atoms[i].Run != nil && !yield(Unit{nil, int32(i)}) {
				return
			}
		}
	}
}

// AwaitRun makes a unit wait for the end of a run.
func (t *Table) AwaitRun(id string, u Unit) { t.runs[id] = u }

// DropRun makes no unit wait for the end of a run.
func (t *Table) DropRun(id string) { delete(t.runs, id) }

// ParentOf returns the unit that waits for the end of a run; false if none does.
func (t *Table) ParentOf(id string) (Unit, bool) {
	u, ok := t.runs[id]
	return u, ok
}

// Runs returns the number of runs whose ends units wait for.
func (t *Table) Runs() int { return len(t.runs) }

// RunOf returns the id of the run of the present attempt of a unit: the one that it begins, or the run that continues
// that one.
func (t *Table) RunOf(u Unit) string {
	r := t.Record(u)
	if id := t.draft.Successor(u.Node, u.Atom, r); id != "" {
		return id
	}
	if u.Node != nil {
		return backend.ChildID(t.run, u.Node.Path, int(r.Incarnation), int(r.Attempt), u.Node.Spec.Child)
	}
	return backend.PlannedChildID(t.run, t.Path(u), int(r.Incarnation), int(r.Attempt))
}

// ChildOf returns which run a unit begins.
func (t *Table) ChildOf(u Unit) *flow.Child {
	if u.Node != nil {
		return u.Node.Spec.Child
	}
	run := t.plan.Atoms[u.Atom].Run
	return &flow.Child{Flow: run.Plan.Flow, Structure: run.Plan.Hash, Detached: run.Detached}
}

// IsUndone reports whether a unit is being undone, or waits for what its run has done.
func (t *Table) IsUndone(u Unit) bool {
	return t.Record(u).State == states.TaskReverting || u.Node != nil && u.Node.AwaitsRun()
}

// Undone returns the event for the end of the undo of a unit that begins a run, or for what AwaitRun asks about it.
func (u Unit) Undone() scheduler.Event {
	if u.Node != nil && u.Node.AwaitsRun() {
		return scheduler.Event{Kind: scheduler.RunKnown, Atom: -1, Node: u.Node, Revert: true}
	}
	ev := u.Ended()
	ev.Revert, ev.Result = true, atom.Null
	return ev
}

// Begun returns the event with which the scheduler learns that the run of a unit exists; false if it needs not, because
// it waits for the end of the run.
func (t *Table) Begun(u Unit, id string) (ev scheduler.Event, tell bool) {
	ev = u.Ended()
	switch token := u.Node != nil && u.Node.Spec.Token != ""; {
	case u.Node != nil && u.Node.Spec.Report:
		ev.Kind = scheduler.Deferred
	case t.ChildOf(u).Detached && !token:
		ev.Result = atom.MustEncode(id)
	default:
		return ev, false
	}
	return ev, true
}

// RunEnds is what a run is told about the outcome of its child run.
var RunEnds = [...]flow.RunEnd{
	storage.Unfinished: flow.RunOpen, storage.Succeeded: flow.RunSucceeded, storage.FailedOutcome: flow.RunFailed,
	storage.TimedOut: flow.RunTimedOut, storage.Cancelled: flow.RunCancelled, storage.Continued: flow.RunOpen,
}

// runEnd returns how a child run ended, from its message. Messages of earlier versions of Ebb do not say it.
func runEnd(m *storage.Message) (end flow.RunEnd) {
	if err := m.Note.Decode(&end); err == nil && end > flow.RunOpen && end <= flow.RunCancelled {
		return end
	}
	if m.Failure != nil {
		return flow.RunFailed
	}
	return flow.RunSucceeded
}

// RunEnded returns the event for the end of the child run of a unit, from the message about it.
func (t *Table) RunEnded(u Unit, m *storage.Message) scheduler.Event {
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
func (t *Table) Fit(ev *scheduler.Event, u Unit) {
	if u.Node != nil {
		return
	}
	if ev.Failure != nil {
		f := *ev.Failure
		if f.Atom != "" {
			f.Atom = "/" + clip.Ends(f.Atom, clip.Path)
		}
		f.Atom = t.Path(u) + f.Atom
		ev.Failure = &f
		return
	}
	ev.Result = ValueOf(ev.Result)
	if err := fits(&t.plan.Atoms[u.Atom], ev.Result); err != nil {
		ev.Result, ev.Failure = nil, t.badResult(u, "the output of the run is no result of the atom", err)
	}
}
