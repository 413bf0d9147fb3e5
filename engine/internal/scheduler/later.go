package scheduler

// later takes back the question that is out, or what of a wave has not started, so that
// any event may come. Idle asks again, and starts the rest.
func (s *Scheduler) later() {
	for _, a := range s.wave[s.startAt:] {
		if s.ready[a] {
			s.selected[a] = true
			s.next = append(s.next, a)
		} else {
			s.redo = append(s.redo, a)
		}
	}
	s.wave, s.startAt = s.wave[:0], 0
	switch {
	case !s.asked:
	case s.asking.scope != nil:
		s.back = s.asking // and not at the head of a list that may be long
		s.asking, s.asked = ask{}, false
	default:
		s.push(op{unwind, -1})
		s.asked = false
	}
}

// postponed reports whether questions, decisions or what is to be cancelled wait for Idle.
func (s *Scheduler) postponed() bool {
	return s.opAt < len(s.ops) || len(s.cancels) > 0 || s.wonders()
}

// wonders reports whether a question is still to be asked.
func (s *Scheduler) wonders() bool { return s.back.scope != nil || len(s.asks) > 0 }

// firstAsk takes the question that comes first: one that was taken back, or the oldest.
func (s *Scheduler) firstAsk() (q ask) {
	if s.back.scope != nil {
		q, s.back = s.back, ask{}
		return q
	}
	q, s.asks = s.asks[0], s.asks[1:]
	return q
}

// forgetAsks drops all questions that are still to be asked.
func (s *Scheduler) forgetAsks() { s.back, s.asks = ask{}, nil }
