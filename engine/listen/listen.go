package listen

import (
	"slices"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
)

// Durations returns an observer that calls f with the duration of each attempt of an atom, and of each revert, when
// it has ended.
func Durations(f func(path string, took time.Duration)) func(engine.Event) {
	return func(ev engine.Event) {
		if ev.Kind == engine.AtomChanged && ended(ev.To) {
			f(ev.Path, ev.Duration)
		}
	}
}

func ended(state string) bool {
	switch state {
	case states.TaskSuccess.String(), states.TaskFailure.String(), states.TaskCancelled.String(),
		states.TaskReverted.String(), states.TaskRevertFailure.String():
		return true
	}
	return false
}

// Progress returns an observer that calls f with the progress of each atom: 0 when it starts to execute or to
// revert, then the reported values, and 1 when it has succeeded or is reverted. details are the details of a
// report; nil otherwise.
func Progress(f func(path string, fraction float64, details atom.Value)) func(engine.Event) {
	return func(ev engine.Event) {
		switch {
		case ev.Kind == engine.ProgressMade:
			f(ev.Path, ev.Progress, ev.Details)
		case ev.Kind != engine.AtomChanged:
		case ev.To == states.TaskRunning.String() || ev.To == states.TaskReverting.String():
			f(ev.Path, 0, nil)
		case ev.To == states.TaskSuccess.String() || ev.To == states.TaskReverted.String():
			f(ev.Path, 1, nil)
		}
	}
}

// A Capture stores the events that it observes, for tests. The zero Capture is ready to use.
type Capture struct {
	mu     sync.Mutex
	events []engine.Event
}

// Observe stores an event. Pass it to engine.WithObserver.
func (c *Capture) Observe(ev engine.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, ev)
}

// Events returns the stored events in order.
func (c *Capture) Events() []engine.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.events)
}

// States returns the states of the atom at a path, in order; "" means the run itself.
func (c *Capture) States(path string) []string {
	var list []string
	for _, ev := range c.Events() {
		if ev.Path == path && (ev.Kind == engine.AtomChanged || ev.Kind == engine.FlowChanged) {
			list = append(list, ev.To)
		}
	}
	return list
}
