package taskflowtest

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// A Watch gets every change of state of a run. It reports changes that must not happen in any order: an illegal one, an
// atom that starts before its dependencies are done, an atom that is reverted without a start or before its dependents,
// or an end that does not follow from the states.
type Watch struct {
	plan  *flow.Plan
	state []states.Task
	fault func(format string, args ...any)
}

// NewWatch returns a watch of a run that has not begun.
func NewWatch(plan *flow.Plan, fault func(format string, args ...any)) *Watch {
	return &Watch{plan: plan, state: make([]states.Task, len(plan.Atoms)), fault: fault}
}

// Changed takes the next change of an atom.
func (w *Watch) Changed(a int32, from, to states.Task) {
	name := w.plan.Atoms[a].Name()
	if w.state[a] != from {
		w.fault("%s went from %v to %v, and was %v", name, from, to, w.state[a])
	}
	if !w.legal(a, from, to) {
		w.fault("%s went from %v to %v", name, from, to)
	}
	switch {
	case to == states.TaskRunning && from == states.TaskPending:
		w.around(a, w.plan.Pred, func(b int32, s states.Task) {
			if s != states.TaskSuccess && s != states.TaskIgnore {
				w.fault("%s began when %s before it was %v", name, w.plan.Atoms[b].Name(), s)
			}
		})
	case to == states.TaskReverting:
		if from == states.TaskPending || from == states.TaskIgnore || from == states.TaskReverted {
			w.fault("%s is reverted from %v", name, from)
		}
		w.around(a, w.plan.Succ, func(b int32, s states.Task) {
			passedOver := s == states.TaskRevertFailure && w.plan.Atoms[b].RevertPolicy().Then == atom.GoOnUndoing
			if s != states.TaskPending && s != states.TaskReverted && s != states.TaskIgnore && !passedOver {
				w.fault("%s is reverted when %s after it was %v", name, w.plan.Atoms[b].Name(), s)
			}
		})
	}
	w.state[a] = to
}

func (w *Watch) legal(a int32, from, to states.Task) bool {
	if w.plan.Atoms[a].Kind() == atom.KindRetry {
		return states.Check(states.Retry(from), states.Retry(to)) == nil ||
			states.CheckReset(states.Retry(from), states.Retry(to)) == nil
	}
	return states.Check(from, to) == nil || states.CheckReset(from, to) == nil
}

// around calls do for every atom that is reached from an atom.
func (w *Watch) around(a int32, next func(n int32) []int32, do func(b int32, s states.Task)) {
	seen := map[int32]bool{}
	for work := []int32{w.plan.Atoms[a].Node}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, v := range next(n) {
			if !seen[v] {
				seen[v] = true
				work = append(work, v)
				if b := w.plan.Nodes[v].Atom; b >= 0 {
					do(b, w.state[b])
				}
			}
		}
	}
}

// Rested takes the state in which the run came to rest. One that was ended from
// outside may be FAILURE with all atoms done.
func (w *Watch) Rested(end states.Flow, fromOutside bool) {
	done, stuck, busy, waits := true, false, false, false
	for _, s := range w.state {
		switch s {
		case states.TaskSuccess, states.TaskIgnore:
			continue
		case states.TaskRevertFailure:
			stuck = true
		case states.TaskRunning, states.TaskReverting:
			busy = true
		case states.TaskRetrying:
			waits = true
		default:
		}
		done = false
	}
	switch {
	case end == states.FlowSuspended:
	case !end.Ended():
		w.fault("came to rest %v", end)
	case busy || waits && end != states.FlowFailure: // which ends a run in the middle
		w.fault("ended %v with atoms in the middle", end)
	case (end == states.FlowSuccess) != done && (!fromOutside || end != states.FlowFailure):
		w.fault("ended %v; all atoms are done: %t", end, done)
	case stuck && end == states.FlowReverted:
		w.fault("ended REVERTED although a revert failed")
	}
}

// States returns the states of the atoms, by their index in the plan.
func (w *Watch) States() []states.Task { return w.state }
