package scheduler

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// told asks a language about a message to the run: the run's own language, that of the flow that the message names, or
// that of the node that the message concerns. If that language no longer listens, told drops the message.
func (s *Scheduler) told(ev Event) {
	scope := s.root
	switch {
	case ev.Unit != nil:
		scope = ev.Unit.Node.Scope
	case ev.Scope != nil:
		scope = ev.Scope
	}
	if scope == nil || scope.closed || scope.stopping || scope.ending != nil || s.root.Rec.State != states.TaskRunning {
		s.dropMessage(&ask{message: ev.N}, true)
		return
	}
	s.growth.asks = append(s.growth.asks, ask{scope: scope, node: ev.Unit.Grown(), cause: *ev.Cause, message: ev.N})
}

// Listens reports whether the run can process a message now.
func (s *Scheduler) Listens() bool {
	return s.flow == states.FlowRunning && (s.root == nil || s.root.begun || s.root.Rec.State != states.TaskRunning &&
		s.root.Rec.State != states.TaskPending)
}

// Outer returns the memory of the run's own growing flow.
func (s *Scheduler) Outer() atom.Value { return s.root.Memory }

// listen makes the run's own flow wait for messages, or stop waiting. Its record then has the mark of an atom that
// another party ends.
func (s *Scheduler) listen(scope *Scope, on bool) {
	if scope.Parent != nil || scope.listens == on {
		return
	}
	scope.listens = on
	r := &s.root.Rec
	if on {
		s.inFlight.waits++
		r.Ended = grow.EndDeferred
	} else {
		s.inFlight.waits--
		r.Ended = grow.EndNone
	}
	s.write(scope.Unit)
}
