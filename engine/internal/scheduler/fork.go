package scheduler

import (
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// fillFork begins children as slots are free.
func (s *Scheduler) fillFork(n *Node) {
	g := n.Spec.Group
	for n.begun < g.Count && !n.decided && !n.Scope.stopping && (g.Slots == 0 || len(n.children) < g.Slots) && !n.stopped {
		c := &Scope{Path: n.childPath(n.begun), Parent: n, Index: n.begun}
		n.begun++
		s.growth.alive++
		n.children = append(n.children, c)
		s.emit(Command{Op: Write, Atom: -1, Scope: c, Rec: c.Rec})
		if s.flow == states.FlowRunning {
			s.wonder(c, nil, flow.Cause{Kind: flow.Begin})
		}
	}
}

// childPath names a fork's child. Children of a further attempt are others than
// those of the one before.
func (n *Node) childPath(i int) string { return ChildPath(n.Path, int(n.Rec.Attempt), i) }

// ChildPath returns the path of the child of a fork that the given attempt made.
func ChildPath(fork string, attempt, i int) string {
	if attempt > 1 {
		fork += "@" + strconv.Itoa(attempt)
	}
	return fork + "[" + strconv.Itoa(i) + "]"
}

// noteEnd keeps, as the result of a fork that has not ended, what the child that
// decided its end, or ended last, wants its language to be told.
func (s *Scheduler) noteEnd(fork *Node, end *flow.End) {
	if fork.decided || string(fork.Rec.Result) == string(end.Note) {
		return
	}
	fork.Rec.Result = end.Note
	s.emit(Command{Op: Write, Atom: -1, Node: fork, Rec: fork.Rec})
}

// tell counts the end of a child.
func (n *Node) tell(c *Scope) {
	if c.Rec.Ended != EndFailure {
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

// lost reports whether more children have failed than may.
func (n *Node) lost() bool {
	g := n.Spec.Group
	return n.failures > g.Tolerate || g.Need > 0 && g.Count-n.failures < g.Need
}

// won reports whether as many children have ended well as must.
func (n *Node) won() bool {
	g := n.Spec.Group
	return g.Need > 0 && n.done >= g.Need || n.done+n.failures >= g.Count
}

// decide ends the other children once it is decided how a fork ends, and begins
// further ones until then.
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
		n.Rec.Failure, n.Rec.Ended = n.failure, EndFailure
		s.setNode(n, states.TaskFailure)
		s.nodeEnded(n)
	case n.won():
		n.Rec.Ended = EndValue
		s.setNode(n, states.TaskSuccess)
		s.nodeEnded(n)
	}
}
