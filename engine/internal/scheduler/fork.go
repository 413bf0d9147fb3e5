package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
)

// fillFork starts children of a fork in free slots. A child starts when its question comes first, see beginChild.
// Therefore, a Step starts one child, however many the fork has.
func (s *Scheduler) fillFork(n *Node) {
	if s.flow != states.FlowRunning || n.decided || n.stopped || n.Scope.stopping {
		return // when the run resumes, the records tell which children to start
	}
	if upTo := n.allowed(); upTo > n.upTo {
		n.upTo = upTo
		s.growth.asks = append(s.growth.asks, ask{
			scope: n.Scope, node: n, cause: grow.Cause{Attempt: int(n.Rec.Attempt)},
			upTo: upTo,
		})
	}
}

// allowed returns how many children a fork may have started, including children that have ended.
func (n *Node) allowed() int {
	g := n.Spec.Group
	if g.Slots == 0 {
		return g.Count
	}
	return min(g.Count, n.begun+g.Slots-len(n.children))
}

// begins reports whether a fork still has to start the children of the question.
func (n *Node) begins(q *ask) bool {
	return n.Rec.State == states.TaskRunning && int(n.Rec.Attempt) == q.cause.Attempt && !n.decided && n.begun < q.upTo
}

// beginChild starts the next child of a fork, and returns the question to its language.
func (s *Scheduler) beginChild(n *Node) ask {
	c := childOf(n, n.begun, n.childPath(n.begun))
	n.begun++
	s.growth.alive++
	n.children = append(n.children, c)
	s.write(c.Unit)
	return ask{scope: c, cause: grow.Cause{Kind: grow.Begin}}
}

// childPath returns the path of a fork's child. Children of different attempts have different paths.
func (n *Node) childPath(i int) string { return ChildPath(n.Path, int(n.Rec.Attempt), i) }

// ChildPath returns the path of child i of the given attempt of a fork.
func ChildPath(fork string, attempt, i int) string { return nodepath.Child(fork, attempt, i) }

// noteEnd stores in the result of an open fork what its language is told about the child that decided the fork's
// end, or that ended last.
func (s *Scheduler) noteEnd(fork *Node, end *grow.End) {
	if fork.decided || string(fork.Rec.Result) == string(end.Note) {
		return
	}
	fork.Rec.Result = end.Note
	s.write(&fork.Unit)
}

// tell counts the end of a child.
func (n *Node) tell(c *Scope) {
	if c.Rec.Ended != grow.EndFailure {
		n.results[c.Index] = c.Rec.Result
		n.joined += int64(len(c.Rec.Result))
		n.done++
		return
	}
	n.failures++
	if n.failedAt < 0 && n.lost() {
		n.failedAt, n.failure = c.Index, c.Rec.Failure
	}
}

// lost reports whether more children have failed than the fork tolerates.
func (n *Node) lost() bool {
	g := n.Spec.Group
	return n.failures > g.Tolerate || g.Need > 0 && g.Count-n.failures < g.Need
}

// won reports whether as many children have succeeded as the fork requires.
func (n *Node) won() bool {
	g := n.Spec.Group
	return g.Need > 0 && n.done >= g.Need || n.done+n.failures >= g.Count
}

// decide starts further children until the end of the fork is decided, and then ends the other children.
func (s *Scheduler) decide(n *Node) {
	switch {
	case n.decided || n.stopped:
	case n.failedAt >= 0 || n.won():
		n.decided = true
		for _, c := range slices.Clone(n.children) {
			s.stop(c)
		}
	default:
		s.fillFork(n)
	}
}

// joinFork ends a fork whose children have all ended.
func (s *Scheduler) joinFork(n *Node) {
	if n.Rec.State != states.TaskRunning || len(n.children) > 0 {
		return
	}
	switch {
	case n.stopped:
		s.retire(n)
		s.setNode(n, states.TaskCancelled)
		s.left(n.Scope)
	case n.failedAt >= 0:
		n.Rec.Failure, n.Rec.Ended = n.failure, grow.EndFailure
		s.setNode(n, states.TaskFailure)
		s.nodeEnded(n)
	case n.won():
		n.Rec.Ended = grow.EndValue
		s.setNode(n, states.TaskSuccess)
		s.nodeEnded(n)
	}
}
