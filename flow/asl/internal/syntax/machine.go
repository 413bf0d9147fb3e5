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
	Undoes  bool              // some state has a Revert that undoes it

	// Observe is called with each part that a run goes through: a *State, *Rule, *Retrier or *Catcher, or the
	// *Transition of a Default. It may be nil.
	Observe func(part any)
}

// Through tells the observer of a part that a run goes through.
func (m *Machine) Through(part any) {
	if m.Observe != nil {
		m.Observe(part)
	}
}

// A Level is one States object: the machine itself, a branch of a Parallel state, or the processor of a Map state.
type Level struct {
	Start   *State
	Timeout time.Duration // of a machine; 0: none
	States  []*State
}

// Within returns the inner levels of a state.
func (s *State) Within() []*Level {
	if s.Items != nil {
		return []*Level{s.Items.Processor}
	}
	return s.Branches
}

// Link computes the properties of a legal machine's states that depend on other states.
func (l *Level) Link() {
	l.loops()
	for _, s := range l.States {
		for _, inner := range s.Within() {
			inner.Link()
		}
		s.AtOnce = (s.Kind == ParallelState || s.Kind == MapState) && s.instant()
	}
}

// Some reports whether holds returns true for a state of some levels.
func Some(levels []*Level, holds func(*State) bool) bool {
	return slices.ContainsFunc(levels, func(l *Level) bool {
		return slices.ContainsFunc(l.States, holds)
	})
}

// If the levels of a Parallel or Map state only compute and end after few steps, the state only computes, too: the
// interpreter passes through all of them in one answer, without nodes. The history is the same.

// MaxInstant is the maximum number of states in such a level: an answer can stop between two levels, but not within
// a level.
const MaxInstant = 20

// instant reports whether the interpreter passes through a state's levels in one answer. Their states must take no
// time, must not repeat, and must contain no query, which could take many steps.
func (s *State) instant() bool {
	return s.Language == JSONPath && (s.Items == nil || s.Items.Distributed == nil) &&
		!slices.ContainsFunc(s.Within(), func(l *Level) bool { return len(l.States) > MaxInstant }) &&
		!Some(s.Within(), func(s *State) bool {
			return s.Kind != PassState && s.Kind != ChoiceState && s.Kind != SucceedState && s.Kind != FailState || s.Repeats ||
				s.Language != JSONPath
		})
}

// loops marks the states of a level that can be visited more than once. Only their visits are counted, so the
// memory of a machine without loops does not grow.
func (l *Level) loops() {
	digraph.Loops(l.States, (*State).successors, func(loop []*State) {
		for _, s := range loop {
			s.Repeats = true
		}
	})
}
