package scheduler

import "github.com/ebbflow/ebb/states"

// dropNode cancels a node that its language no longer wants. One whose end is
// still to come says so in its record, so that it does not go on after a crash.
func (s *Scheduler) dropNode(n *Node) {
	s.stopNode(n)
	if n.Kept {
		n.Rec.Intention = states.IntendIgnore
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
	}
}

// dropped reports whether a node is one whose end was still to come when its
// language no longer wanted it.
func (n *Node) dropped() bool { return n.Rec.Intention == states.IntendIgnore }

// left goes on with a scope that a cancelled node has left.
func (s *Scheduler) left(scope *Scope) {
	s.settleScope(scope)
	s.undoNext(scope)
	s.growth.asks = append(s.growth.asks, ask{scope: scope, left: true})
}

// starved reports whether a scope would wait for ever: nothing is open in it, and
// its language will be asked nothing.
func (s *Scheduler) starved(scope *Scope) bool {
	if scope.closed || scope.stopping || scope.ending != nil || scope.undoing != nil || scope.listens || len(scope.open) > 0 {
		return false
	}
	if s.growth.back.scope == scope || s.wantsMore(scope) {
		return false
	}
	for i := range s.growth.asks {
		if s.growth.asks[i].scope == scope && !s.growth.asks[i].left {
			return false
		}
	}
	return true
}
