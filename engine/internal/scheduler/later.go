package scheduler

// later takes back the open question, or the part of a wave that has not started, so that other events may come.
// Idle asks again and starts the rest.
func (s *Scheduler) later() {
	for _, a := range s.front.wave[s.front.startAt:] {
		if s.front.ready[a] {
			s.front.selected[a] = true
			s.front.next = append(s.front.next, a)
		} else {
			s.front.redo = append(s.front.redo, a)
		}
	}
	s.front.wave, s.front.startAt = s.front.wave[:0], 0
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
	return s.failing.opAt < len(s.failing.ops) || len(s.cancels.left) > 0 || s.hasAsks()
}

// hasAsks reports whether a question is pending.
func (s *Scheduler) hasAsks() bool { return s.growth.back.scope != nil || len(s.growth.asks) > 0 }

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
