package syntax

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/digraph"
)

// A Machine is a state machine.
type Machine struct {
	Name    string
	Profile Profile
	Top     *Level
	States  map[string]*State // of all levels
}

// A Level is one States object: the machine itself, a branch of a Parallel
// state, or what a Map state does with each item.
type Level struct {
	Start   *State
	Timeout time.Duration // of a machine; 0: none
	States  []*State
}

// Within returns the levels inside of a state.
func (s *State) Within() []*Level {
	if s.Items != nil {
		return []*Level{s.Items.Processor}
	}
	return s.Branches
}

// Link finds out about the states of a legal machine what is to be known of others for it.
func (l *Level) Link() {
	l.loops()
	for _, s := range l.States {
		for _, inner := range s.Within() {
			inner.Link()
		}
		s.AtOnce = (s.Kind == ParallelState || s.Kind == MapState) && s.instant()
	}
}

// Some reports whether something holds for a state of some levels.
func Some(levels []*Level, holds func(*State) bool) bool {
	return slices.ContainsFunc(levels, func(l *Level) bool {
		return slices.ContainsFunc(l.States, holds)
	})
}

// A Parallel or Map state whose levels only compute, and come to their end in few
// steps, only computes, too: the interpreter that enters it goes through them all, with no
// node for it and none for its levels. The history is the same.

// MaxInstant is how many states a level may have that is gone through at once: an
// answer can stop between two levels, and not within one.
const MaxInstant = 20

// instant reports whether a state's levels are gone through at once: what is in them
// takes no time, is left for good, and has no query, which could count many steps.
func (s *State) instant() bool {
	return s.Language == JSONPath && (s.Items == nil || s.Items.Distributed == nil) &&
		!slices.ContainsFunc(s.Within(), func(l *Level) bool { return len(l.States) > MaxInstant }) &&
		!Some(s.Within(), func(s *State) bool {
			return s.Kind != PassState && s.Kind != ChoiceState && s.Kind != SucceedState && s.Kind != FailState || s.Repeats || s.Language != JSONPath
		})
}

// loops marks the states of a level that can be visited more than once: those
// that some way of transitions leads back to. Only their visits are counted, so
// that what a long machine without loops remembers does not grow with it.
func (l *Level) loops() {
	digraph.Loops(l.States, (*State).successors, func(loop []*State) {
		for _, s := range loop {
			s.Repeats = true
		}
	})
}
