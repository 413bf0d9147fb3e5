package scheduler

import (
	"fmt"

	"github.com/ebbflow/ebb/states"
)

// set changes the state and the intention of an atom of the plan. No other function changes them.
func (s *Scheduler) set(u *Unit, state states.Task, intention states.Intention) {
	r := &u.Rec
	from := r.State
	if from == state && r.Intention == intention {
		return
	}
	if from != state {
		s.check(u, from, state)
		s.readySet.okN += ok(state) - ok(from)
	}
	r.State, r.Intention = state, intention
	c := s.next()
	c.Op, c.Unit, c.Rec = Write, u, *r
	if from != state {
		c.Op, c.From, c.To = Notify, from, state
	}
	s.changed(u.Planned.Node)
}

// ok returns 1 for SUCCESS and IGNORE, and 0 for other states.
func ok(t states.Task) int {
	if t == states.TaskSuccess || t == states.TaskIgnore {
		return 1
	}
	return 0
}

// check panics if a transition is not in the tables, which would be a defect of this package.
func (s *Scheduler) check(u *Unit, from, to states.Task) {
	var err error
	switch {
	case to == states.TaskPending:
		if u.IsRetry() {
			err = states.CheckReset(states.Retry(from), states.Retry(to))
		} else {
			err = states.CheckReset(from, to)
		}
	case u.IsRetry():
		err = states.Check(states.Retry(from), states.Retry(to))
	default:
		err = states.Check(from, to)
	}
	if err != nil {
		panic(fmt.Errorf("scheduler: atom %q: %w", u.Path, err))
	}
}

// setFlow changes the flow's state. It ignores the transitions that TaskFlow ignores.
func (s *Scheduler) setFlow(to states.Flow) {
	if states.Ignored(s.flow, to) {
		return
	}
	if err := states.Check(s.flow, to); err != nil {
		panic(err) // a defect of this package: the caller reports it
	}
	s.emit(Command{Op: FlowState, FlowFrom: s.flow, FlowTo: to})
	s.flow = to
}
