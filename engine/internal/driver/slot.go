package driver

import "context"

// A Slot lets a child run be driven beside its parent. A run holds the slot while it executes, and frees it while it
// only waits. Therefore, a run that waits for its children never blocks them.
type Slot struct {
	Places chan struct{}
	held   bool
}

// take waits for a free slot. If ctx ends first, it returns false.
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
