package scheduler

import (
	"cmp"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// gather builds the next wave: atoms that were running when the run was loaded, and atoms that are ready.
func (s *Scheduler) gather() {
	s.readySet.wave, s.readySet.startAt = s.readySet.wave[:0], 0
	for _, a := range s.readySet.redo {
		if !s.readySet.ready[a] && s.inMiddle(a) { // otherwise it is in next, or has ended
			s.readySet.wave = append(s.readySet.wave, a)
		}
	}
	s.readySet.redo = s.readySet.redo[:0]
	for _, a := range s.readySet.next {
		s.readySet.selected[a] = false
		if s.readySet.ready[a] && (s.failing.rewinding == nil || s.rec[a].Intention == states.IntendRevert) {
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
func (s *Scheduler) inMiddle(a int32) bool {
	switch s.rec[a].State {
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
		s.start(a)
	}
	s.readySet.startAt = end
	if end < len(s.readySet.wave) {
		s.emit(Command{Op: More, Atom: -1})
	}
}

// start starts an atom's execution or revert, as its intention says.
func (s *Scheduler) start(a int32) {
	r := &s.rec[a]
	switch r.Intention {
	case states.IntendRetry:
		s.retry(a)
	case states.IntendRevert:
		if r.State == states.TaskRunning && s.giveUpInterrupted(a) {
			return
		}
		if r.State == states.TaskReverting && r.Due().After(s.now) { // between two attempts
			s.waitFor(a)
			return
		}
		if r.State == states.TaskRetrying {
			s.unwait(a)
		} else if s.root == nil {
			r.clearDue() // of a retry that does not try again; of a revert's next attempt
		}
		if r.State == states.TaskReverting {
			s.emit(Command{Op: Write, Atom: a, Rec: *r})
		}
		s.set(a, states.TaskReverting, r.Intention)
		if s.plan.Atoms[a].Language != nil {
			s.beginUnwinding()
			return
		}
		s.inFlight.busy++
		if s.needsNoUndo(a) {
			s.completed(Event{Atom: a, Revert: true, Result: atom.Null})
			return
		}
		in, missing := s.bind(a, s.plan.Atoms[a].RevertArgs())
		detail := Detail{Outcome: r.outcome(s.Failures()), Tries: r.Tries()}
		s.emit(Command{Op: Revert, Atom: a, Rec: *r, Values: in, Missing: missing, Detail: &detail})
	default:
		s.execute(a)
	}
}

// giveUpInterrupted gives up an attempt whose call was interrupted, and which another party may have ended. It reports
// whether it is such an attempt.
func (s *Scheduler) giveUpInterrupted(a int32) bool {
	if s.plan.Atoms[a].Deferral() == nil {
		return false
	}
	if r := &s.rec[a]; !r.Awaits() {
		r.Ended = flow.EndDeferred
		s.inFlight.waits++
		s.void(a)
	}
	return true
}

// needsNoUndo reports whether an atom needs no undo: it was cancelled before it was called, or failed because no worker
// took its work or a value was missing.
func (s *Scheduler) needsNoUndo(a int32) bool {
	r := &s.rec[a]
	return r.NeverCalled() || r.untakenAt(s.plan.Atoms[a].Name())
}

func (s *Scheduler) execute(a int32) {
	r := &s.rec[a]
	if s.root != nil && r.State == states.TaskRunning {
		s.beginGrowing()
		return
	}
	switch pa := &s.plan.Atoms[a]; {
	case pa.Signal() != "":
		s.awaitExternal(a, &Command{Op: Await, Atom: a})
		return
	case pa.Run != nil:
		in, missing := s.Args(a)
		s.awaitExternal(a, &Command{Op: Spawn, Atom: a, Values: in, Missing: missing})
		return
	}
	if r.State == states.TaskRunning { // the process died during this attempt: repeat the attempt
		s.emit(Command{Op: Write, Atom: a, Rec: *r})
	} else {
		*s.queueOf(nil, a) = r.nextIn()
		r.Attempt++
		r.Ended = flow.EndNone
		s.set(a, states.TaskRunning, r.Intention)
	}
	if s.plan.Atoms[a].Language != nil {
		s.beginGrowing()
		return
	}
	s.inFlight.busy++
	in, missing := s.Args(a)
	c := s.next()
	c.Op, c.Atom, c.Rec, c.Values, c.Missing = Execute, a, *r, in, missing
	if s.isRetry(a) {
		c.Detail = &Detail{Tries: r.Tries()}
	}
}
