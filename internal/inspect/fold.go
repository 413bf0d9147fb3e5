package inspect

import (
	"cmp"
	"slices"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A run may have more steps than fit in memory, or on a page. A tree keeps the steps that matter most, and counts
// the others by state. It decides after each change, so its size is always bounded.
const (
	//limit:shown `ebb show`: iterations of one state or fork | {} | counted by state
	keptOfGroup = 2 * MaxShownOfGroup // steps of one group, see group.go
	//limit:shown `ebb show`: other steps of one flow; undone steps; steps in all | {}; {KeptUndone}; {keptInAll} |
	//limit:and counted
	keptOfOthers = 100 // steps of one flow that are in no group
	keptInAll    = 2000

	// KeptUndone is the number of steps that [Tree] keeps in Undone: the first and the last ones, half of each.
	KeptUndone = 100
)

// rank returns how much a step matters. 0 matters most.
func rank(s *Step) int { return rankOf(s.Status()) }

func rankOf(status storage.Status) int {
	switch status {
	case "FAILURE", "REVERT_FAILURE":
		return 0
	case storage.StatusStaysDone, storage.StatusMayStayDone, "RUNNING", "RETRYING", "REVERTING":
		return 1
	case "SUCCESS", "PENDING":
		return 3
	default:
		return 2
	}
}

// Compare compares two statuses of steps by how much they matter to people: failures come first, successes last.
func Compare(a, b storage.Status) int {
	return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(a, b))
}

// meet applies a change of a step that is not kept: it is new, or it was folded.
func (t *Tree) meet(c *Change) {
	above, name := CutPath(c.Path)
	parent := t.parent(above)
	if parent == nil {
		return // it is inside of a folded step
	}
	s := newStep(c.Path, name)
	for _, text := range befores(c) {
		var from states.Task
		if from.UnmarshalText([]byte(text)) == nil && parent.folded[storage.Status(text)] > 0 {
			parent.folded[storage.Status(text)]--
			s.State = from
			break
		}
	}
	if c.To == "" {
		s.Progress, s.Details = c.Progress, c.Details
	} else {
		t.change(s, c)
	}
	t.add(parent, s)
}

// befores returns the possible statuses of a step before a change. A step that nothing reverts is counted under another
// status than its state.
func befores(c *Change) []string {
	if !c.stays() {
		return []string{c.From}
	}
	return []string{c.From, states.TaskSuccess.String(), states.TaskCancelled.String(), states.TaskFailure.String()}
}

// parent returns the step at a path, and creates missing steps above it. If the step, or one above it, is folded,
// it returns nil.
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

// full reports whether the parent keeps the maximum of such steps.
func (t *Tree) full(parent, s *Step) bool {
	same, most := siblings(parent, s)
	return same >= most || len(t.steps) >= keptInAll
}

// siblings returns the number of steps of the same kind that the parent keeps, and the maximum.
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

// add keeps a step below its parent. If the parent is full, add replaces the step that matters least, or counts the
// new one.
func (t *Tree) add(parent, s *Step) {
	if t.full(parent, s) {
		at := leastOf(parent, s)
		if at < 0 || !matters(s, parent.children[at]) {
			t.fold(parent, s)
			return
		}
		least := parent.children[at]
		parent.children = slices.Delete(parent.children, at, at+1)
		t.fold(parent, least)
		t.drop(least)
	}
	// Until it has a state, it only contains others
	parent.Inner = parent.Inner || parent.State == states.TaskPending
	parent.children = append(parent.children, s)
	t.steps[s.Path] = s
}

// matters reports whether a step matters more than one that is kept. Of a group, earlier members do.
func matters(s, kept *Step) bool {
	return rank(s) < rank(kept) || s.numbered && rank(s) == rank(kept) && s.number < kept.number
}

// leastOf returns the index of the kept step of the same kind that matters least; of several, the latest. -1 means
// none.
func leastOf(parent, s *Step) int {
	least := -1
	for i, other := range parent.children {
		if other.numbered == s.numbered && (least < 0 || !matters(other, parent.children[least])) {
			least = i
		}
	}
	return least
}

// fold counts a step that is not kept.
func (t *Tree) fold(parent, s *Step) {
	if parent.folded == nil {
		parent.folded = map[storage.Status]int{}
	}
	parent.folded[s.Status()]++
	t.Partial = true
}

// drop removes a step and the steps below it.
func (t *Tree) drop(s *Step) {
	delete(t.steps, s.Path)
	for _, c := range s.children {
		t.drop(c)
	}
}

// reset records that a step that was undone begins anew. What was undone remains among what was undone.
func (t *Tree) reset(s *Step) {
	if at := slices.Index(t.Undone, s); at >= 0 {
		undone := *s
		undone.State, undone.children, undone.folded = states.TaskReverted, nil, nil
		t.Undone[at] = &undone
	}
	s.Undo, s.UndoTry, s.UndoFail, s.Skipped = Times{}, 0, nil, false
}

// undo records that a step is being undone. Of very many steps it keeps the first, the last, and those whose revert
// failed.
func (t *Tree) undo(s *Step) {
	t.Undone = slices.DeleteFunc(t.Undone, func(before *Step) bool { return before.Path == s.Path }) // before a reset
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
