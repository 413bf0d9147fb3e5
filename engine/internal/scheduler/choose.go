package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// choose selects atoms that have become ready, and asks their deciders. If the deciders leave out atoms, choose
// also looks at the atoms that become ready for that reason.
func (s *Scheduler) choose() {
	if len(s.failing.fatal) > 0 {
		return
	}
	for s.readySet.chooseAt < len(s.readySet.newReady) {
		a := s.readySet.newReady[s.readySet.chooseAt]
		s.readySet.chooseAt++
		if !s.readySet.ready[a] || s.readySet.selected[a] {
			continue
		}
		r := &s.units[a].Rec
		if r.Intention == states.IntendExecute && r.State == states.TaskPending && len(s.plan.Atoms[a].Deciders) > 0 {
			s.failing.deciding = a
			s.growth.asked = true
			s.emit(Command{Op: AskDeciders, Unit: &s.units[a]})
			s.push(op{choose, -1})
			return
		}
		s.readySet.selected[a] = true
		s.readySet.next = append(s.readySet.next, a)
	}
	s.readySet.newReady, s.readySet.chooseAt = s.readySet.newReady[:0], 0
}

func (s *Scheduler) voted(ev Event) {
	a := s.failing.deciding
	switch {
	case ev.Failure != nil:
		s.failing.fatal = append(s.failing.fatal, ev.Failure)
	case !ev.Nay:
		s.readySet.selected[a] = true
		s.readySet.next = append(s.readySet.next, a)
	default:
		s.leaveOut(a, ev.Depth)
	}
}

// leaveOut ignores an atom and, as depth says, atoms after it.
func (s *Scheduler) leaveOut(a int32, depth flow.Depth) {
	out := []int32{a}
	node := s.plan.Atoms[a].Node
	switch depth {
	case flow.DepthAtom:
	case flow.DepthNeighbors:
		for _, v := range s.plan.Succ(node) {
			if b := s.plan.Nodes[v].Atom; b >= 0 && !s.units[b].IsRetry() {
				out = append(out, b)
			}
		}
	case flow.DepthFlow, flow.DepthAll:
		walk(s.plan.Succ, func(n int32) bool {
			b := s.plan.Nodes[n].Atom
			if depth == flow.DepthFlow && (b < 0 || s.units[b].IsRetry()) {
				return false
			}
			if b >= 0 {
				out = append(out, b)
			}
			return true
		}, node)
	}
	slices.Sort(out)
	// A last: while it is PENDING, a resumed run asks its deciders again.
	for _, b := range slices.Backward(slices.Compact(out)) {
		s.set(&s.units[b], states.TaskIgnore, states.IntendIgnore)
	}
}
