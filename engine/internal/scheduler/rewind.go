package scheduler

import (
	"github.com/ebbflow/ebb/states"
)

// rewind describes an operator's request to undo part of the run so that it can run again.
type rewind struct {
	hold bool // come to rest after the undo
}

// rewindSet returns the atoms that must be undone to continue from a. These are all atoms after a, and a itself
// unless keep is true. In addition, they are all atoms that are neither done nor pending, with the atoms after
// them. If a is below 0, only the latter must be undone.
func (s *Scheduler) rewindSet(a int32, keep bool) []bool {
	in := make([]bool, len(s.units))
	var from []int32
	if a >= 0 {
		in[a] = !keep
		from = append(from, s.plan.Atoms[a].Node)
	}
	for i := range s.units {
		switch s.units[i].Rec.State {
		case states.TaskPending, states.TaskRunning, states.TaskSuccess, states.TaskIgnore, states.TaskRetrying:
		default:
			in[i] = true
			from = append(from, s.plan.Atoms[i].Node)
		}
	}
	walk(s.plan.Succ, func(n int32) bool {
		if b := s.plan.Nodes[n].Atom; b >= 0 {
			in[b] = true
		}
		return true
	}, from...)
	return in
}

// rewindTo starts to undo the atoms of rewindSet. The other atoms do not change.
func (s *Scheduler) rewindTo(a int32, o *OperatorCommand) {
	set := s.rewindSet(a, o.Keep)
	s.failing.rewinding = &rewind{hold: o.Hold}
	s.stopReason.halted = false
	if s.isEnding() { // the run had ended; now it continues
		s.stopReason.pending, s.stopReason.pendingFailure = NothingPending, nil
		s.emit(Command{Op: PendingFailure, Detail: &Detail{}})
	}
	s.forgetRevertAll()
	for i, in := range set {
		u, r := &s.units[i], &s.units[i].Rec
		switch {
		case in && s.readySet.nodes[u.Planned.Node].flags&untouched == 0:
			if r.State == states.TaskRunning && !r.Awaits() {
				s.emit(Command{Op: Cancel, Unit: u})
			}
			if r.State == states.TaskRevertFailure {
				s.readySet.redo = append(s.readySet.redo, u.Index)
			}
			s.set(u, r.State, states.IntendRevert)
			s.void(u)
		case !in && r.Intention == states.IntendRevert && r.State == states.TaskIgnore:
			s.set(u, r.State, states.IntendIgnore)
		case !in && r.Intention == states.IntendRevert,
			!in && r.Intention == states.IntendRetry && r.State == states.TaskSuccess:
			s.set(u, r.State, states.IntendExecute)
		}
	}
	s.push(op{choose, -1})
}

// rewound continues forward, or brings the run to rest, when all atoms of the rewind are undone. It reports whether
// that is so now.
func (s *Scheduler) rewound() bool {
	for i := range s.units {
		if r := &s.units[i].Rec; r.Intention == states.IntendRevert &&
			r.State != states.TaskPending && r.State != states.TaskReverted && r.State != states.TaskIgnore {
			return false
		}
	}
	for i := range s.units {
		if u := &s.units[i]; u.Rec.Intention == states.IntendRevert {
			s.setFailure(u, nil)
			s.resetAtom(u)
		}
	}
	hold := s.failing.rewinding.hold
	s.failing.rewinding = nil
	s.finishCommands()
	if hold {
		s.rest(states.FlowSuspended)
		return true
	}
	s.lookAround()
	s.runOps()
	return true
}

// forgetRevertAll makes the intention of untouched atoms EXECUTE again.
func (s *Scheduler) forgetRevertAll() {
	if !s.failing.revAll {
		return
	}
	s.failing.revAll = false
	s.emit(Command{Op: Remember, Detail: &Detail{}})
	for i := range s.units {
		s.touch(&s.units[i])
	}
}
