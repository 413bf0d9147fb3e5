package lambda

import (
	"errors"
	"testing"
	"time"
)

// TestIdleProcessIsReplaced ends the process of another function that is idle for the longest time when there may be no
// further process, and refuses invocations when too many wait.
func TestIdleProcessIsReplaced(t *testing.T) {
	t.Parallel()
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	busy, wanted := &hosted{processes: maxProcesses}, &hosted{}
	s.functions, s.processes = map[string]*hosted{"Busy": busy, "Wanted": wanted}, maxProcesses
	ended := make(chan int, 2)
	for i := range 2 {
		p := newProcess(s, busy)
		p.cancel, p.idle = func() { ended <- i }, time.NewTimer(time.Hour)
		busy.idle = append(busy.idle, p)
	}
	p, wait, err := s.tryTake(wanted)
	if p != nil || wait == nil || err != nil || len(ended) != 1 || <-ended != 0 {
		t.Fatalf("got %v, %v, %v", p, wait, err)
	}
	s.gone(newProcess(s, busy))
	<-wait
	if p, _, err := s.tryTake(wanted); p == nil || err != nil || s.processes != maxProcesses {
		t.Errorf("got %v, %v, with %d processes", p, err, s.processes)
	}
	s.waiting = maxWaiting
	if _, _, err := s.tryTake(wanted); !errors.Is(err, errBusy) {
		t.Errorf("got %v", err)
	}
}
