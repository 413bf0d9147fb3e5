package main

import (
	"slices"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/states"
)

// A run may have more steps than fit in memory, or on a page. A tree keeps those that matter
// most, and counts the others by their states. It decides with each change, so that also what
// it holds meanwhile is bounded.
const (
	keptOfGroup  = 2 * fewOfMany // steps of one group, see groups.go
	keptOfOthers = 100           // steps of one flow that are in no group
	keptInAll    = 2000
	keptUndone   = 100 // steps that were undone, half of them the first and half the last
)

// rank says how much a step in a state matters; 0 is most.
func rank(state states.Task) int {
	switch state {
	case states.TaskFailure, states.TaskRevertFailure:
		return 0
	case states.TaskRunning, states.TaskRetrying, states.TaskReverting:
		return 1
	case states.TaskSuccess, states.TaskPending:
		return 3
	default:
		return 2
	}
}

// meet takes in a change of a step that is not kept: it is new, or it was folded.
func (t *tree) meet(c *change) {
	above, name := definition.CutPath(c.path)
	parent := t.parent(above)
	if parent == nil {
		return // it is inside of what is folded
	}
	s := newStep(c.path, name)
	var from states.Task
	if from.UnmarshalText([]byte(c.from)) == nil && parent.folded[from] > 0 {
		parent.folded[from]--
		s.state = from
	}
	if c.to == "" {
		s.progress, s.details = c.progress, c.details
	} else {
		t.change(s, c)
	}
	t.add(parent, s)
}

// parent returns the step at a path, made with all that is above it when it is not there;
// nil when it, or one above it, is folded.
func (t *tree) parent(path string) *step {
	if path == "" {
		return &t.top
	}
	if s := t.steps[path]; s != nil {
		return s
	}
	above, name := definition.CutPath(path)
	parent := t.parent(above)
	if parent == nil {
		return nil
	}
	s := newStep(path, name)
	if t.full(parent, s) {
		return nil
	}
	t.add(parent, s)
	return s
}

// full reports whether a step has no place below its parent, unless another one leaves.
func (t *tree) full(parent, s *step) bool {
	same, most := siblings(parent, s)
	return same >= most || len(t.steps) >= keptInAll
}

// siblings returns how many steps are kept that a step competes with, and how many may be.
func siblings(parent, s *step) (same, most int) {
	for _, other := range parent.children {
		if other.numbered == s.numbered {
			same++
		}
	}
	if s.numbered {
		return same, keptOfGroup
	}
	return same, keptOfOthers
}

// add keeps a step below its parent, in place of the one that matters least if need be, or
// counts it.
func (t *tree) add(parent, s *step) {
	if t.full(parent, s) {
		at := leastOf(parent, s)
		if at < 0 || rank(parent.children[at].state) <= rank(s.state) {
			t.fold(parent, s)
			return
		}
		least := parent.children[at]
		parent.children = slices.Delete(parent.children, at, at+1)
		t.fold(parent, least)
		t.drop(least)
	}
	parent.inner = parent.inner || parent.state == states.TaskPending // until something becomes of it, it only holds others
	parent.children = append(parent.children, s)
	t.steps[s.path] = s
}

// leastOf returns which of the steps that one competes with matters least: of several the
// latest; -1 when there is none.
func leastOf(parent, s *step) int {
	least := -1
	for i, other := range parent.children {
		if other.numbered == s.numbered && (least < 0 || rank(other.state) >= rank(parent.children[least].state)) {
			least = i
		}
	}
	return least
}

// fold counts a step that is not kept.
func (t *tree) fold(parent, s *step) {
	if parent.folded == nil {
		parent.folded = map[states.Task]int{}
	}
	parent.folded[s.state]++
	t.partial = true
}

// drop forgets a step and what is below it.
func (t *tree) drop(s *step) {
	delete(t.steps, s.path)
	for _, c := range s.children {
		t.drop(c)
	}
}

// undo notes that a step is being undone. Of very many it keeps the first, the last, and what
// could not be undone.
func (t *tree) undo(s *step) {
	t.undone = append(t.undone, s)
	if len(t.undone) <= keptUndone {
		return
	}
	at := keptUndone / 2
	if plain := slices.IndexFunc(t.undone[at:], func(s *step) bool { return s.state == states.TaskReverted }); plain > 0 {
		at += plain
	}
	t.undone = slices.Delete(t.undone, at, at+1)
	t.forgotten++
}
