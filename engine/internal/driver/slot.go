package driver

import "context"

// A Slot is one of the places for runs that are driven beside their parents. A run takes
// the slot while it does something, and leaves the slot while it only waits. So a run that
// waits for its children never keeps the children from being driven.
type Slot struct {
	Places chan struct{}
	held   bool
}

// take waits for the place. It reports false when ctx ends first.
func (s *Slot) take(ctx context.Context) bool {
	select {
	case s.Places <- struct{}{}:
		s.held = true
	case <-ctx.Done():
	}
	return s.held
}

func (s *Slot) leave() {
	if s.held {
		s.held = false
		<-s.Places
	}
}
