package scheduler

import (
	"cmp"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// gather makes the next wave: what was found running, and what is ready.
func (s *Scheduler) gather() {
	s.wave, s.startAt = append(s.wave[:0], s.redo...), 0
	s.redo = s.redo[:0]
	for _, a := range s.next {
		s.selected[a] = false
		if s.ready[a] {
			s.wave = append(s.wave, a)
		}
	}
	s.next = s.next[:0]
	inOrder := func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.plan.Atoms[b].Priority(), s.plan.Atoms[a].Priority()), cmp.Compare(a, b))
	}
	if !slices.IsSortedFunc(s.wave, inOrder) {
		slices.SortFunc(s.wave, inOrder)
	}
}

// chunk is how many atoms one Step starts. A longer list of commands would cost
// more than what it says.
const chunk = 64

func (s *Scheduler) startWave() {
	end := min(s.startAt+chunk, len(s.wave))
	for _, a := range s.wave[s.startAt:end] {
		s.start(a)
	}
	s.startAt = end
	if end < len(s.wave) {
		s.emit(Command{Op: More, Atom: -1})
	}
}

// start begins an atom's execution or revert, as it is intended.
func (s *Scheduler) start(a int32) {
	r := &s.rec[a]
	switch r.Intention {
	case states.IntendRetry:
		s.retry(a)
	case states.IntendRevert:
		if r.State == states.TaskRetrying {
			s.unwait(a)
		} else if s.root == nil {
			r.clearDue() // of a retry that was to try again, and will not
		}
		s.set(a, states.TaskReverting, r.Intention)
		if s.plan.Atoms[a].Language != nil {
			s.beginUnwinding()
			return
		}
		s.busy++
		in, missing := s.bind(a, s.plan.Atoms[a].RevertArgs())
		if missing != nil && s.neverCalled(a) {
			s.completed(Event{Atom: a, Revert: true, Result: atom.Null})
			return
		}
		s.emit(Command{Op: Revert, Atom: a, Rec: *r, Values: in, Missing: missing, Outcome: r.outcome(s.Failures()), Tries: r.Tries()})
	default:
		s.execute(a)
	}
}

// neverCalled reports whether an atom failed because a value was missing: then
// there is nothing to undo. What provided a value is reverted later than its
// consumers, so a value that was there for the call is there still.
func (s *Scheduler) neverCalled(a int32) bool {
	_, missing := s.bind(a, s.plan.Atoms[a].Args())
	return missing != nil && s.rec[a].Ended == EndFailure
}

func (s *Scheduler) execute(a int32) {
	r := &s.rec[a]
	if s.root != nil && r.State == states.TaskRunning {
		s.beginGrowing()
		return
	}
	r.Attempt++
	r.Ended = EndNone
	if r.State == states.TaskRunning {
		s.emit(Command{Op: Write, Atom: a, Rec: *r})
	} else {
		s.set(a, states.TaskRunning, r.Intention)
	}
	if s.plan.Atoms[a].Language != nil {
		s.beginGrowing()
		return
	}
	s.busy++
	in, missing := s.bind(a, s.plan.Atoms[a].Args())
	s.emit(Command{Op: Execute, Atom: a, Rec: *r, Values: in, Missing: missing, Tries: r.Tries()})
}
