package scheduler

// What is open in a scope may be very much: hundreds of thousands of nodes and child flows.
// Cancelling it goes on in parts, which the driver may commit one by one. That all of it is
// to be cancelled is in the records before the first part is: of the scope that ends, of the
// node that was dropped, of the children that decided a fork, or of the run. So a process
// that finds some of it open cancels that, see takeUp.

// partSize is how many nodes and child flows one Step cancels.
const partSize = 256

// A cancelling is what is still to be cancelled in a scope.
type cancelling struct {
	scope *Scope
	nodes []*Node // those that are left; not used before begun
	begun bool
}

// stop cancels what is open in a scope; the scope settles when all of it has
// ended. Nothing in it is asked or begun any more from now on.
func (s *Scheduler) stop(scope *Scope) {
	if !scope.closed {
		scope.markStopping()
		s.cancel(cancelling{scope: scope})
	}
}

// cancel cancels what there is time for in this Step, and keeps what is left for the next.
func (s *Scheduler) cancel(c cancelling) {
	if s.cancels.quota == 0 {
		s.cancels.left = append(s.cancels.left, c)
		return
	}
	if !c.begun {
		s.cancels.quota--
		c.nodes, c.begun = sorted(c.scope.open), true
	}
	for i, n := range c.nodes {
		if n.stopped || c.scope.open[n.Spec.Name] != n {
			continue
		}
		if s.cancels.quota == 0 {
			c.nodes = c.nodes[i:]
			s.cancels.left = append(s.cancels.left, c)
			return
		}
		s.cancels.quota--
		if !n.dropped() {
			s.noteAborted(n)
		}
		s.stopNode(n)
	}
	s.stopUndoing(c.scope)
	s.settleScope(c.scope)
}

// cancelMore cancels the next part. It reports whether anything is left then.
func (s *Scheduler) cancelMore() bool {
	for s.cancels.quota > 0 && len(s.cancels.left) > 0 {
		c := s.cancels.left[0]
		s.cancels.left[0] = cancelling{}
		s.cancels.left = s.cancels.left[1:]
		if !c.scope.closed && c.scope.stopping {
			s.cancel(c)
		}
	}
	if len(s.cancels.left) == 0 {
		s.cancels.left = nil
	}
	return s.cancels.left != nil
}
