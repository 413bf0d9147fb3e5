package driver

import "context"

// A Slot is one of the places for runs that are driven beside those that have begun
// them. A run takes it as long as it does something, and leaves it while it only
// waits; so one that waits for runs of its own never keeps these from being driven.
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
