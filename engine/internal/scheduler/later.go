package scheduler

// later takes back the question that is out, or what of a wave has not started, so that
// any event may come. Idle asks again, and starts the rest.
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
		s.growth.back = s.growth.asking // and not at the head of a list that may be long
		s.growth.asking, s.growth.asked = ask{}, false
	default:
		s.push(op{unwind, -1})
		s.growth.asked = false
	}
}

// postponed reports whether questions, decisions or what is to be cancelled wait for Idle.
func (s *Scheduler) postponed() bool {
	return s.failing.opAt < len(s.failing.ops) || len(s.cancels.left) > 0 || s.wonders()
}

// wonders reports whether a question is still to be asked.
func (s *Scheduler) wonders() bool { return s.growth.back.scope != nil || len(s.growth.asks) > 0 }

// firstAsk takes the question that comes first: one that was taken back, or the oldest.
func (s *Scheduler) firstAsk() (q ask) {
	if s.growth.back.scope != nil {
		q, s.growth.back = s.growth.back, ask{}
		return q
	}
	q, s.growth.asks = s.growth.asks[0], s.growth.asks[1:]
	return q
}

// forgetAsks drops all questions that are still to be asked.
func (s *Scheduler) forgetAsks() { s.growth.back, s.growth.asks = ask{}, nil }
