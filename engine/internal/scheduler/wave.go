package scheduler

import (
	"cmp"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// gather builds the next wave: atoms that were running when the run was loaded, and atoms that are ready.
func (s *Scheduler) gather() {
	s.readySet.wave, s.readySet.startAt = s.readySet.wave[:0], 0
	for _, a := range s.readySet.redo {
		if !s.readySet.ready[a] && s.inMiddle(&s.units[a]) { // otherwise it is in next, or has ended
			s.readySet.wave = append(s.readySet.wave, a)
		}
	}
	s.readySet.redo = s.readySet.redo[:0]
	for _, a := range s.readySet.next {
		s.readySet.selected[a] = false
		if s.readySet.ready[a] && (s.failing.rewinding == nil || s.units[a].Rec.Intention == states.IntendRevert) {
			s.readySet.wave = append(s.readySet.wave, a)
		}
	}
	s.readySet.next = s.readySet.next[:0]
	inOrder := func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.plan.Atoms[b].Priority(), s.plan.Atoms[a].Priority()), cmp.Compare(a, b))
	}
	if !slices.IsSortedFunc(s.readySet.wave, inOrder) {
		slices.SortFunc(s.readySet.wave, inOrder)
	}
}

// inMiddle reports whether a call of the atom, or the undo before its end, was interrupted.
func (s *Scheduler) inMiddle(u *Unit) bool {
	switch u.Rec.State {
	case states.TaskRunning, states.TaskReverting, states.TaskRevertFailure:
		return true
	case states.TaskReverted:
		return s.leftOnStack()
	default:
		return false
	}
}

// chunk is the number of atoms that one Step starts. A longer list of commands would cost more to copy than it
// saves.
const chunk = 64

func (s *Scheduler) startWave() {
	if s.flow != states.FlowRunning {
		s.later()
		return
	}
	end := min(s.readySet.startAt+chunk, len(s.readySet.wave))
	for _, a := range s.readySet.wave[s.readySet.startAt:end] {
		s.start(&s.units[a])
	}
	s.readySet.startAt = end
	if end < len(s.readySet.wave) {
		s.emit(Command{Op: More})
	}
}

// start starts an atom's execution or revert, as its intention says.
func (s *Scheduler) start(u *Unit) {
	r := &u.Rec
	switch r.Intention {
	case states.IntendRetry:
		s.retry(u)
	case states.IntendRevert:
		if r.State == states.TaskRunning && s.giveUpInterrupted(u) {
			return
		}
		if r.State == states.TaskReverting && r.Due().After(s.now) { // between two attempts
			s.waitFor(u)
			return
		}
		if r.State == states.TaskRetrying {
			s.unwait(u)
		} else if s.root == nil {
			r.clearDue() // of a retry that does not try again; of a revert's next attempt
		}
		if r.State == states.TaskReverting {
			s.write(u)
		}
		s.set(u, states.TaskReverting, r.Intention)
		if u.Planned.Language != nil {
			s.beginUnwinding()
			return
		}
		s.makeCall(u)
		if s.needsNoUndo(u) {
			s.completed(Event{Unit: u, Revert: true, Result: atom.Null})
			return
		}
		in, missing := s.bind(u, u.Planned.RevertArgs())
		detail := Detail{Outcome: r.outcome(s.Failures()), Tries: r.Tries()}
		s.emit(Command{Op: Revert, Unit: u, Rec: *r, Values: in, Missing: missing, Detail: &detail})
	default:
		s.execute(u)
	}
}

// giveUpInterrupted gives up an attempt whose call was interrupted, and which another party may have ended. It reports
// whether it is such an attempt.
func (s *Scheduler) giveUpInterrupted(u *Unit) bool {
	if u.Planned.Deferral() == nil {
		return false
	}
	if !u.Awaits() {
		u.Rec.Ended = grow.EndDeferred
		s.waitExternal(u)
		s.void(u)
	}
	return true
}

// needsNoUndo reports whether an atom needs no undo: it was cancelled before it was called, or failed because no worker
// took its work or a value was missing.
func (s *Scheduler) needsNoUndo(u *Unit) bool {
	r := &u.Rec
	return r.NeverCalled() || r.untakenAt(u.Path)
}

func (s *Scheduler) execute(u *Unit) {
	r := &u.Rec
	if s.root != nil && r.State == states.TaskRunning {
		s.beginGrowing()
		return
	}
	switch pa := u.Planned; {
	case pa.Signal() != "":
		s.awaitExternal(&Command{Op: Await, Unit: u})
		return
	case pa.Run != nil:
		in, missing := s.Args(u)
		s.awaitExternal(&Command{Op: Spawn, Unit: u, Values: in, Missing: missing})
		return
	}
	if r.State == states.TaskRunning { // the process died during this attempt: repeat the attempt
		s.write(u)
	} else {
		u.queue = r.nextIn()
		r.Attempt++
		r.Ended = grow.EndNone
		s.set(u, states.TaskRunning, r.Intention)
	}
	if u.Planned.Language != nil {
		s.beginGrowing()
		return
	}
	s.makeCall(u)
	in, missing := s.Args(u)
	c := s.next()
	c.Op, c.Unit, c.Rec, c.Values, c.Missing = Execute, u, *r, in, missing
	if u.IsRetry() {
		c.Detail = &Detail{Tries: r.Tries()}
	}
}
