package scheduler

import "github.com/ebbflow/ebb/states"

// dropNode cancels a node that its language no longer needs. If the node has not ended, its record says that it was
// dropped, so that a process that resumes the run does not continue it.
func (s *Scheduler) dropNode(n *Node) {
	s.stopNode(n)
	if n.Kept {
		n.Rec.Intention = states.IntendIgnore
		s.write(&n.Unit)
	}
}

// dropNext drops count open nodes of a flow, oldest first.
func (s *Scheduler) dropNext(scope *Scope, count int) {
	for _, n := range sorted(scope.open) {
		switch {
		case n.stopped:
		case count == 0:
			return
		default:
			count--
			s.dropNode(n)
		}
	}
}

// dropped reports whether the language dropped the node before the node ended.
func (n *Node) dropped() bool { return n.Rec.Intention == states.IntendIgnore }

// left continues with a scope after a cancelled node has left it.
func (s *Scheduler) left(scope *Scope) {
	s.settleScope(scope)
	s.undoNext(scope)
	s.growth.asks = append(s.growth.asks, ask{scope: scope, left: true})
}

// starved reports whether a scope would wait for ever: no node in it is open, and no question to its language is
// pending.
func (s *Scheduler) starved(scope *Scope) bool {
	if scope.closed || scope.stopping || scope.ending != nil || scope.undoing != nil || scope.listens ||
		len(scope.open) > 0 {
		return false
	}
	if s.growth.back.scope == scope || s.wantsMore(scope) {
		return false
	}
	for i := range s.growth.asks {
		if q := &s.growth.asks[i]; q.scope == scope && !q.left && q.upTo == 0 {
			return false
		}
	}
	return true
}
