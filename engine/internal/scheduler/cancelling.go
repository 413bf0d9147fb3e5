package scheduler

import (
	"github.com/ebbflow/ebb/flow/grow"
)

// A scope may contain hundreds of thousands of open nodes and child flows. The scheduler cancels them in parts, and
// the driver may commit each part separately. Before the first part, the records show that the whole is being
// cancelled: the record of the scope that ends, of the node that was dropped, of the children that decided a fork,
// or of the run. Therefore, a process that resumes the run cancels the rest, see takeUp.

// partSize is the number of nodes and child flows that one Step cancels.
const partSize = 256

// A cancelling lists the nodes of a scope that are still to be cancelled.
type cancelling struct {
	scope *Scope
	nodes []*Node // nodes left to cancel; unused before begun is set
	begun bool
}

// stop cancels the open nodes of a scope. The scope settles when all of them have ended. From now on the scheduler
// asks and starts nothing in the scope.
func (s *Scheduler) stop(scope *Scope) {
	if !scope.closed {
		scope.markStopping()
		s.cancel(cancelling{scope: scope})
	}
}

// cancel cancels as many nodes as this Step may, and keeps the rest for the next.
func (s *Scheduler) cancel(c cancelling) {
	if s.cancelQueue.quota == 0 {
		s.cancelQueue.left = append(s.cancelQueue.left, c)
		return
	}
	if !c.begun {
		s.cancelQueue.quota--
		c.nodes, c.begun = sorted(c.scope.open), true
		s.leaveOpen(c.scope, c.nodes)
	}
	for i, n := range c.nodes {
		if n.stopped || c.scope.open[n.Spec.Name] != n {
			continue
		}
		if s.cancelQueue.quota == 0 {
			c.nodes = c.nodes[i:]
			s.cancelQueue.left = append(s.cancelQueue.left, c)
			return
		}
		s.cancelQueue.quota--
		if c.spares(n) {
			n.stopped, n.spared = true, true
			c.scope.spared++
			continue
		}
		s.stopNode(n)
	}
	s.stopUndoing(c.scope)
	s.settleScope(c.scope)
}

// cancelMore cancels the next part. It reports whether nodes are left.
func (s *Scheduler) cancelMore() bool {
	for s.cancelQueue.quota > 0 && len(s.cancelQueue.left) > 0 {
		c := s.cancelQueue.left[0]
		s.cancelQueue.left[0] = cancelling{}
		s.cancelQueue.left = s.cancelQueue.left[1:]
		if !c.scope.closed && c.scope.stopping {
			s.cancel(c)
		}
	}
	if len(s.cancelQueue.left) == 0 {
		s.cancelQueue.left = nil
	}
	return s.cancelQueue.left != nil
}

// leaveNode stops waiting for a node without ending its child run.
func (s *Scheduler) leaveNode(n *Node) {
	if n.Spec.Kind != grow.Nested || !n.Awaits() {
		s.dropNode(n)
		return
	}
	n.stopped = true
	s.unwaitExternal(&n.Unit)
	s.emit(Command{Op: Void, Unit: &n.Unit, Abandoned: true})
	s.cancelled(n)
}

// spares reports whether a node to cancel waits until its language has answered. If the run's own flow is ended from
// outside, the language may leave child runs running.
func (c *cancelling) spares(n *Node) bool {
	return c.scope.Parent == nil && c.scope.outside != grow.Begin && c.scope.ending == nil &&
		n.Spec.Kind == grow.Nested && n.Awaits() && !n.dropped()
}

// endSpared ends the nodes that waited for the answer of their language: those that it names continue.
func (s *Scheduler) endSpared(scope *Scope, leave []string) {
	for _, name := range leave {
		if n := scope.open[name]; n != nil && n.spared {
			s.leaveNode(n)
		}
	}
	if scope.spared == 0 {
		return
	}
	for _, n := range sorted(scope.open) {
		if n.spared {
			s.stopNode(n)
		}
	}
}
