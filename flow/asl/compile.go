package asl

import (
	"slices"
	"time"
)

// A level is one States object: the machine itself, a branch of a Parallel
// state, or what a Map state does with each item.
type level struct {
	start   *state
	owner   *state        // the Parallel or Map state it belongs to; nil at the top
	timeout time.Duration // of a machine; 0: none
	names   []string
	here    map[string]*state
}

// within returns the levels inside of a state.
func (s *state) within() []*level {
	if s.items != nil {
		return []*level{s.items.processor}
	}
	return s.branches
}

// link finds out about the states of a legal machine what is to be known of others for it.
func (l *level) link() {
	l.loops()
	for _, name := range l.names {
		s := l.here[name]
		for _, inner := range s.within() {
			inner.link()
		}
		s.atOnce = (s.kind == parallelState || s.kind == mapState) && s.instant()
	}
}

// some reports whether something holds for a state of some levels.
func some(levels []*level, holds func(*state) bool) bool {
	return slices.ContainsFunc(levels, func(l *level) bool {
		return slices.ContainsFunc(l.names, func(name string) bool { return holds(l.here[name]) })
	})
}
