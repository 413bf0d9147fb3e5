package inspect

import (
	"slices"

	"github.com/ebbflow/ebb/states"
)

// A run may have more steps than fit in memory, or on a page. A tree keeps those that matter
// most, and counts the others by their states. It decides with each change, so that also what
// it holds meanwhile is bounded.
const (
	keptOfGroup  = 2 * FewOfMany // steps of one group, see group.go
	keptOfOthers = 100           // steps of one flow that are in no group
	keptInAll    = 2000
	KeptUndone   = 100 // steps that were undone, half of them the first and half the last
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
func (t *Tree) meet(c *Change) {
	above, name := CutPath(c.Path)
	parent := t.parent(above)
	if parent == nil {
		return // it is inside of what is folded
	}
	s := newStep(c.Path, name)
	var from states.Task
	if from.UnmarshalText([]byte(c.From)) == nil && parent.folded[from] > 0 {
		parent.folded[from]--
		s.State = from
	}
	if c.To == "" {
		s.Progress, s.Details = c.Progress, c.Details
	} else {
		t.change(s, c)
	}
	t.add(parent, s)
}

// parent returns the step at a path, made with all that is above it when it is not there;
// nil when it, or one above it, is folded.
func (t *Tree) parent(path string) *Step {
	if path == "" {
		return &t.Top
	}
	if s := t.steps[path]; s != nil {
		return s
	}
	above, name := CutPath(path)
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
func (t *Tree) full(parent, s *Step) bool {
	same, most := siblings(parent, s)
	return same >= most || len(t.steps) >= keptInAll
}

// siblings returns how many steps are kept that a step competes with, and how many may be.
func siblings(parent, s *Step) (same, most int) {
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
func (t *Tree) add(parent, s *Step) {
	if t.full(parent, s) {
		at := leastOf(parent, s)
		if at < 0 || rank(parent.children[at].State) <= rank(s.State) {
			t.fold(parent, s)
			return
		}
		least := parent.children[at]
		parent.children = slices.Delete(parent.children, at, at+1)
		t.fold(parent, least)
		t.drop(least)
	}
	parent.Inner = parent.Inner || parent.State == states.TaskPending // until something becomes of it, it only holds others
	parent.children = append(parent.children, s)
	t.steps[s.Path] = s
}

// leastOf returns which of the steps that one competes with matters least: of several the
// latest; -1 when there is none.
func leastOf(parent, s *Step) int {
	least := -1
	for i, other := range parent.children {
		if other.numbered == s.numbered && (least < 0 || rank(other.State) >= rank(parent.children[least].State)) {
			least = i
		}
	}
	return least
}

// fold counts a step that is not kept.
func (t *Tree) fold(parent, s *Step) {
	if parent.folded == nil {
		parent.folded = map[states.Task]int{}
	}
	parent.folded[s.State]++
	t.Partial = true
}

// drop forgets a step and what is below it.
func (t *Tree) drop(s *Step) {
	delete(t.steps, s.Path)
	for _, c := range s.children {
		t.drop(c)
	}
}

// undo notes that a step is being undone. Of very many it keeps the first, the last, and what
// could not be undone.
func (t *Tree) undo(s *Step) {
	t.Undone = append(t.Undone, s)
	if len(t.Undone) <= KeptUndone {
		return
	}
	at := KeptUndone / 2
	if plain := slices.IndexFunc(t.Undone[at:], func(s *Step) bool { return s.State == states.TaskReverted }); plain > 0 {
		at += plain
	}
	t.Undone = slices.Delete(t.Undone, at, at+1)
	t.Forgotten++
}
