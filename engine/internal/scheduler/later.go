package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/flow/grow"
)

// later takes back the open question, or the part of a wave that has not started, so that other events may come.
// Idle asks again and starts the rest.
func (s *Scheduler) later() {
	for _, a := range s.readySet.wave[s.readySet.startAt:] {
		if s.readySet.ready[a] {
			s.readySet.selected[a] = true
			s.readySet.next = append(s.readySet.next, a)
		} else {
			s.readySet.redo = append(s.readySet.redo, a)
		}
	}
	s.readySet.wave, s.readySet.startAt = s.readySet.wave[:0], 0
	switch {
	case !s.growth.asked:
	case s.growth.asking.scope != nil:
		s.growth.back = s.growth.asking // not put at the head of a list that may be long
		s.growth.asking, s.growth.asked = ask{}, false
	default:
		s.push(op{unwind, -1})
		s.growth.asked = false
	}
}

// postponed reports whether questions, decisions or cancellations wait for Idle.
func (s *Scheduler) postponed() bool {
	return s.failing.opAt < len(s.failing.ops) || len(s.cancelQueue.left) > 0 || s.hasAsks()
}

// hasAsks reports whether a question is pending.
func (s *Scheduler) hasAsks() bool { return s.growth.back.scope != nil || len(s.growth.asks) > 0 }

// MustTell reports whether a language is still to be asked about something that the run has received: a message, or the
// end of an attempt by another party. A question that waits until the language has been asked for more does not count:
// that may last for ever.
func (s *Scheduler) MustTell() bool {
	return s.growth.back.received() || slices.ContainsFunc(s.growth.asks, func(q ask) bool { return q.received() })
}

// received reports whether a question is about something that the run has received.
func (q *ask) received() bool {
	ended := q.cause.Kind == grow.Ended || q.cause.Kind == grow.Failed
	return q.message > 0 || ended && q.node != nil && q.node.byToken
}

// firstAsk takes the first pending question: one that was taken back, or the oldest. A question for the children of
// a fork stays until the last of them has started.
func (s *Scheduler) firstAsk() (q ask) {
	if s.growth.back.scope != nil {
		q, s.growth.back = s.growth.back, ask{}
		return q
	}
	q = s.growth.asks[0]
	if fork, upTo := q.node, q.upTo; upTo > 0 && s.matters(&q) {
		if q = s.beginChild(fork); fork.begun < upTo {
			return q
		}
	}
	s.growth.asks = s.growth.asks[1:]
	return q
}

// forgetAsks drops all pending questions.
func (s *Scheduler) forgetAsks() { s.growth.back, s.growth.asks = ask{}, nil }
