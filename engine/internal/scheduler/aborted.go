package scheduler

import (
	"cmp"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// A flow that ends from outside, or because a sibling failed, ends its open nodes. The language of the flow in which
// that is decided is told their paths when all of them have ended. Until then the paths are in the records of the
// flows that end, so a process that resumes the run tells the same.

// aborted has the paths of nodes that were ended with their flow, in the order in which they were added, and of those
// of them that had ended before: another party had ended them, or their call, or their time was up.
type aborted struct {
	All      []string `json:"all,omitempty"`
	Accepted []string `json:"accepted,omitempty"`
}

func (a aborted) and(b aborted) aborted {
	return aborted{append(a.All, b.All...), append(a.Accepted, b.Accepted...)}
}

// tell gives a cause the paths.
func (a aborted) tell(cause *grow.Cause) { cause.Aborted, cause.Accepted = a.All, a.Accepted }

// An abortedChild is a child of a fork that has ended because another child decided the end of the fork, or because
// the fork itself was ended.
type abortedChild struct {
	index int
	aborted
}

// aborted returns what was ended with a flow.
func (s *Scope) aborted() (a aborted) {
	if s.left == nil {
		return a
	}
	a.Accepted = slices.Clone(s.left.Accepted)
	for _, name := range s.left.Open {
		a.All = append(a.All, s.Inside(name))
		a = a.and(s.left.Below[name])
	}
	return a
}

// abort remembers what was ended with a child of a fork. A child that had decided how it ends was not ended: its
// language has answered.
func (n *Node) abort(child *Scope) {
	if child.ending == nil {
		n.aborts = append(n.aborts, abortedChild{child.Index, child.aborted()})
	}
}

// aborted returns what was ended with the children of a fork.
func (n *Node) aborted() (a aborted) {
	slices.SortFunc(n.aborts, func(a, b abortedChild) int { return cmp.Compare(a.index, b.index) })
	for _, c := range n.aborts {
		a = a.and(c.aborted)
	}
	return a
}

// endedWithScope records what the end of a stopped node says, if the language of a flow around will be told of it.
func (s *Scheduler) endedWithScope(n *Node) {
	scope, below := n.Scope, n.aborted()
	if scope.Rec.Ended != grow.EndLeft || n.dropped() || !n.accepted && below.All == nil {
		return
	}
	if n.accepted {
		scope.left.Accepted = append(scope.left.Accepted, n.Path)
	}
	if below.All != nil {
		if scope.left.Below == nil {
			scope.left.Below = map[string]aborted{}
		}
		scope.left.Below[n.Spec.Name] = below
	}
	scope.Rec.Result = atom.MustEncode(scope.left)
	s.write(scope.Unit)
}
