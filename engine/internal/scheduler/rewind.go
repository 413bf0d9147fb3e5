package scheduler

import (
	"github.com/ebbflow/ebb/states"
)

// rewind is a part of the run being undone so that it can be run again.
type rewind struct {
	hold bool // come to rest then
}

// rewindSet says which atoms have to be undone to go on from a: all that came
// after it, itself too unless it is to be kept, and all that is neither done nor
// still to come, with what came after that. With a below 0 it is only the latter.
func (s *Scheduler) rewindSet(a int32, keep bool) []bool {
	in := make([]bool, len(s.rec))
	var from []int32
	if a >= 0 {
		in[a] = !keep
		from = append(from, s.plan.Atoms[a].Node)
	}
	for i := range s.rec {
		switch s.rec[i].State {
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

// rewindTo begins to undo what rewindSet says. The rest is to stay as it is.
func (s *Scheduler) rewindTo(a int32, o *OperatorCommand) {
	set := s.rewindSet(a, o.Keep)
	s.failing.rewinding = &rewind{hold: o.Hold}
	s.ending.halted = false
	if s.isEnding() { // it had ended so; now it goes on
		s.ending.pending, s.ending.pendingFailure = NothingPending, nil
		s.emit(Command{Op: PendingFailure, Atom: -1, Detail: &Detail{}})
	}
	s.forgetRevertAll()
	for i, in := range set {
		b, r := int32(i), &s.rec[i]
		switch {
		case in && s.front.nodes[s.plan.Atoms[b].Node].flags&untouched == 0:
			if r.State == states.TaskRunning {
				s.emit(Command{Op: Cancel, Atom: b})
			}
			if r.State == states.TaskRevertFailure {
				s.front.redo = append(s.front.redo, b)
			}
			s.set(b, r.State, states.IntendRevert)
			s.void(b)
		case !in && r.Intention == states.IntendRevert && r.State == states.TaskIgnore:
			s.set(b, r.State, states.IntendIgnore)
		case !in && r.Intention == states.IntendRevert:
			s.set(b, r.State, states.IntendExecute)
		}
	}
	s.push(op{choose, -1})
}

// rewound goes forward again, or comes to rest, once all that was to be undone
// is. It reports whether it was.
func (s *Scheduler) rewound() bool {
	for i := range s.rec {
		if r := &s.rec[i]; r.Intention == states.IntendRevert &&
			r.State != states.TaskPending && r.State != states.TaskReverted && r.State != states.TaskIgnore {
			return false
		}
	}
	for i := range s.rec {
		if a := int32(i); s.rec[i].Intention == states.IntendRevert {
			s.setFailure(a, nil)
			s.resetAtom(a)
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

// forgetRevertAll lets untouched atoms be what they are again.
func (s *Scheduler) forgetRevertAll() {
	if !s.failing.revAll {
		return
	}
	s.failing.revAll = false
	s.emit(Command{Op: Remember, Atom: -1, Detail: &Detail{}})
	for i := range s.rec {
		s.touch(int32(i))
	}
}
