package scheduler

import (
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A Readiness says whether a language answers a caller's question now.
type Readiness uint8

// The values of Readiness.
const (
	AnswersNow   Readiness = iota // it does
	AnswersLater                  // it first answers another question, or waits until something is undone
	IsHeld                        // the run is, or becomes, suspended
	HasEnded                      // the flow has ended or is ending
)

// Answers reports whether the language answers a caller's question about the run's own flow, or about a node, as the
// next one.
func (s *Scheduler) Answers(n *Node) Readiness {
	scope := s.root
	if n != nil {
		scope = n.Scope
	}
	switch {
	case scope == nil, scope.closed, scope.stopping, scope.ending != nil, s.flow.Ended(), s.isEnding(),
		n != nil && n.stopped:
		return HasEnded
	case s.flow == states.FlowSuspending, s.flow == states.FlowSuspended:
		return IsHeld
	case s.flow != states.FlowRunning, !scope.begun, s.root.Rec.State != states.TaskRunning, s.growth.asked, s.postponed(),
		scope.undoing != nil, s.wantsMore(scope):
		return AnswersLater
	default:
		return AnswersNow
	}
}

// endCalled ends the attempt of a node that a caller ends, after the language was asked about its end.
func (s *Scheduler) endCalled(q *ask) {
	n, c := q.node, &q.cause
	if c.Kind != grow.Ended && c.Kind != grow.Failed {
		return
	}
	s.unwaitExternal(&n.Unit)
	n.executing, n.byToken = false, true
	to := states.TaskSuccess
	if c.Kind == grow.Ended {
		n.Rec.Result, n.Rec.Ended, n.Rec.Failure = c.Result, grow.EndValue, nil
	} else {
		n.Rec.Failure, n.Rec.Result, n.Rec.Ended = c.Failure, nil, grow.EndFailure
		to = states.TaskFailure
	}
	s.setNode(n, to)
}
