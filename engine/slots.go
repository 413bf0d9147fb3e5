package engine

import (
	"context"
	"runtime"
	"sync"
)

// slots limits how many runs a server drives at the same time. The server takes slots for the runs that it finds,
// and [Server.Start] takes slots for the runs that it starts, each without waiting for the other.
type slots struct {
	limit int
	freed chan struct{} // receives if a slot was freed

	mu     sync.Mutex
	taken  int
	queued []chan struct{} // runs that were found when a slot was free, and wait because Start took that slot
}

func newSlots(limit int) *slots { return &slots{limit: limit, freed: make(chan struct{}, 1)} }

// free returns the number of free slots. It waits until there is one; if ctx ends first, it returns 0. Runs that
// share a commit leave their slots together.
func (s *slots) free(ctx context.Context) int {
	for ctx.Err() == nil {
		if s.left() > 0 {
			for range 3 {
				runtime.Gosched()
			}
			if n := s.left(); n > 0 {
				return n
			}
		}
		select {
		case <-s.freed:
		case <-ctx.Done():
		}
	}
	return 0
}

func (s *slots) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit - s.taken
}

// try takes a slot if one is free.
func (s *slots) try() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == s.limit {
		return false
	}
	s.taken++
	return true
}

// take takes a slot for a run that was found. If no slot is free any more, the run must wait until the channel is
// closed; otherwise the channel is nil.
func (s *slots) take() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken < s.limit {
		s.taken++
		return nil
	}
	turn := make(chan struct{})
	s.queued = append(s.queued, turn)
	return turn
}

// leave frees a slot, or passes it to the run that has waited longest.
func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queued) > 0 {
		close(s.queued[0])
		s.queued = s.queued[1:]
		return
	}
	s.taken--
	select {
	case s.freed <- struct{}{}:
	default:
	}
}
