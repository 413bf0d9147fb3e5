package scheduler

import (
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A growing flow can become as large as its language makes it, and its open nodes and their values are in memory.
// Therefore, the scheduler counts both, and the driver limits both.

// Alive returns the number of open nodes and child flows.
func (s *Scheduler) Alive() int64 { return s.growth.alive }

// Held returns the number of bytes in the values of open nodes and child flows.
func (s *Scheduler) Held() int64 { return s.growth.held }

// After returns the values of Alive and Held after the answer g to the command asked. Nodes that the answer drops
// count until they have ended.
func (s *Scheduler) After(asked *Command, g *grow.Growth) (alive, held int64) {
	alive, held = s.growth.alive, s.growth.held
	for i := range g.Add {
		a, h := opens(&g.Add[i])
		alive, held = alive+a+1, held+h
	}
	if scope := asked.Scope; g.Memory != nil && scope.Parent != nil {
		held += int64(len(g.Memory) - len(scope.Memory))
	}
	n := asked.Unit.Grown()
	switch {
	case n == nil, asked.Cause.Kind == grow.Taken, asked.Cause.Kind == grow.Called:
	case g.Again == nil || n.Rec.State != states.TaskFailure:
		alive, held = alive-1, held-n.weight
	case n.Spec.Kind == grow.Fork:
		a, _ := opens(&n.Spec)
		alive += a
	}
	return alive, held
}

// opens returns how many child flows a node starts at once, and the number of bytes in its values.
func opens(spec *grow.Spec) (children, held int64) {
	held = int64(len(spec.Input) + len(spec.Note))
	g := spec.Group
	if spec.Kind != grow.Fork || g == nil {
		return 0, held
	}
	children = int64(g.Count)
	if g.Slots > 0 {
		children = min(children, int64(g.Slots))
	}
	return children, held + int64(len(g.Shared))
}

// weigh updates the count of bytes for a node or child flow that has changed.
func (s *Scheduler) weigh(c *Command) {
	switch u := c.Unit; {
	case u.Node != nil:
		u.Node.weigh(s)
	case u.Child != nil:
		u.Child.weigh(s)
	}
}

func (n *Node) weigh(s *Scheduler) {
	weight := int64(0)
	if n.Kept {
		_, weight = opens(&n.Spec)
		weight += int64(len(n.Rec.Result)) + n.joined
	}
	s.growth.held += weight - n.weight
	n.weight = weight
}

func (s *Scope) weigh(of *Scheduler) {
	weight := int64(0)
	if !s.closed {
		weight = int64(len(s.Memory) + len(s.Rec.Result))
	}
	of.growth.held += weight - s.weight
	s.weight = weight
}
