package scheduler

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// counters contain what a node knows of its direct neighbors. A node is forward only if all its predecessors are,
// and so on for the other properties. Therefore, the direct neighbors determine the property.
type counters struct {
	before  int32 // direct predecessors that are not forward
	after   int32 // direct successors that are not back
	stirred int32 // direct successors that are not untouched
	flags   uint8
}

const (
	forward   uint8 = 1 << iota // this node and all before it are done, and stay done
	back                        // this node and all after it did not run, or are undone
	untouched                   // this node and all after it are in the state of a new run
)

// count computes the counters from the records.
func (s *Scheduler) count() {
	for n := range s.readySet.nodes {
		node := int32(n)
		s.readySet.nodes[n] = counters{
			before:  int32(len(s.plan.Pred(node))),
			after:   int32(len(s.plan.Succ(node))),
			stirred: int32(len(s.plan.Succ(node))),
		}
	}
	s.readySet.readyN, s.readySet.okN, s.readySet.newReady, s.readySet.chooseAt = 0, 0, s.readySet.newReady[:0], 0
	clear(s.readySet.ready)
	for i := range s.units {
		s.readySet.okN += ok(s.units[i].Rec.State)
	}
	for n := range s.readySet.nodes {
		s.changed(int32(n))
	}
}

// changed propagates a change of node n as far as it has an effect.
func (s *Scheduler) changed(n int32) {
	s.readySet.work = append(s.readySet.work[:0], n)
	for len(s.readySet.work) > 0 {
		n := s.readySet.work[len(s.readySet.work)-1]
		s.readySet.work = s.readySet.work[:len(s.readySet.work)-1]
		c := &s.readySet.nodes[n]
		flips := c.flags ^ s.flagsOf(n)
		c.flags ^= flips
		if flips&forward != 0 {
			for _, v := range s.plan.Succ(n) {
				if s.tick(&s.readySet.nodes[v].before, c.flags&forward != 0) {
					s.readySet.work = append(s.readySet.work, v)
				}
			}
		}
		if flips&back != 0 {
			for _, p := range s.plan.Pred(n) {
				if s.tick(&s.readySet.nodes[p].after, c.flags&back != 0) {
					s.readySet.work = append(s.readySet.work, p)
				}
			}
		}
		if flips&untouched != 0 {
			for _, p := range s.plan.Pred(n) {
				if s.tick(&s.readySet.nodes[p].stirred, c.flags&untouched != 0) {
					s.readySet.work = append(s.readySet.work, p)
				}
			}
		}
		if a := s.plan.Nodes[n].Atom; a >= 0 {
			s.touch(&s.units[a])
		}
	}
}

// tick counts down when a neighbor gains a property, and up when it loses the property. It reports whether the
// counter reached or left zero.
func (s *Scheduler) tick(counter *int32, came bool) bool {
	if came {
		*counter--
		return *counter == 0
	}
	*counter++
	return *counter == 1
}

func (s *Scheduler) flagsOf(n int32) (flags uint8) {
	c := &s.readySet.nodes[n]
	isForward, isBack, isUntouched := true, true, true
	if node := s.plan.Nodes[n]; node.Kind == flow.AtomNode {
		r := &s.units[node.Atom].Rec
		isForward = (r.State == states.TaskSuccess || r.State == states.TaskIgnore) &&
			(r.Intention == states.IntendExecute || r.Intention == states.IntendIgnore)
		isBack = r.State == states.TaskPending || r.State == states.TaskReverted || r.State == states.TaskIgnore ||
			r.givenUp()
		isUntouched = r.State == states.TaskPending && r.Intention == states.IntendExecute
	}
	if c.before == 0 && isForward {
		flags |= forward
	}
	if c.after == 0 && isBack {
		flags |= back
	}
	if c.stirred == 0 && isUntouched {
		flags |= untouched
	}
	return flags
}

// touch recomputes whether an atom is ready.
func (s *Scheduler) touch(u *Unit) {
	r, c := &u.Rec, &s.readySet.nodes[u.Planned.Node]
	ready := false
	switch r.State {
	case states.TaskPending:
		ready = r.Intention == states.IntendExecute && c.before == 0 && !s.failing.revAll
	case states.TaskRetrying:
		ready = r.Intention == states.IntendExecute && c.before == 0 && r.Due().IsZero() ||
			r.Intention == states.IntendRevert && c.after == 0
	case states.TaskSuccess, states.TaskFailure, states.TaskCancelled:
		ready = (r.Intention == states.IntendRevert || r.Intention == states.IntendRetry) && c.after == 0
	case states.TaskRunning, states.TaskReverting, states.TaskReverted, states.TaskRevertFailure, states.TaskIgnore:
	}
	if ready == s.readySet.ready[u.Index] {
		return
	}
	s.readySet.ready[u.Index] = ready
	if ready {
		s.readySet.readyN++
		s.readySet.newReady = append(s.readySet.newReady, u.Index)
	} else {
		s.readySet.readyN--
	}
}
