package scheduler

import (
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A flow may want a part of its work undone before it continues. The flow's record contains that part until the
// language has been told that it is undone. The records of the nodes that are being undone contain the progress.
// Therefore, a process that resumes the run can continue.
//
// Entries are undone from the top of the stack. If an undone entry has entries of other flows above it, it stays on
// the stack with a mark until it is at the top.

// A Part selects the entries of the undo stack that a flow wants undone.
type Part struct {
	Flow  string // path of the flow
	Under string // path of a node; "" means all of the flow
	To    string // path of the node that stays; "" means none
	Below int64  // only entries below this height; 0 means all
}

// Picks reports whether to undo the entry with that path, and whether it is the last one to undo.
func (p *Part) Picks(path string) (picked, last bool) {
	switch {
	case p.Flow != "" && !strings.HasPrefix(path, p.Flow+"/"):
		return false, false
	case p.To != "" && within(path, p.To):
		return false, true
	default:
		return p.Under == "" || within(path, p.Under), false
	}
}

// within reports whether a path is the path of a node or of an atom inside the node. Inside the group Ship are
// Ship[0]/Pack, and Ship@2[0]/Pack of its second attempt.
func within(path, node string) bool {
	rest, ok := strings.CutPrefix(path, node)
	if !ok || rest == "" {
		return ok
	}
	if after, again := strings.CutPrefix(rest, "@"); again {
		rest = strings.TrimLeft(after, digits)
	}
	child, ok := strings.CutPrefix(rest, "[")
	return ok && strings.HasPrefix(strings.TrimLeft(child, digits), "]/")
}

const digits = "0123456789"

// undoing is the part that a scope wants undone, and the progress.
type undoing struct {
	Under string `json:"under,omitempty"` // names as the language gave them
	To    string `json:"to,omitempty"`
	Note  []byte `json:"note,omitempty"`
	// Failure of the first revert that failed and after which the undo continued.
	Failure *atom.Failure `json:"failure,omitempty"`

	at    int64 // the stack was searched down to this height; 0 means not at all
	asked bool  // AskUndo is open
	node  *Node // the node that is being undone; nil if none is
}

// part returns the part of the stack that is still to be searched.
func (s *Scope) part() *Part {
	u := s.undoing
	path := func(name string) string {
		if name == "" {
			return ""
		}
		return s.Inside(name)
	}
	return &Part{Flow: s.Path, Under: path(u.Under), To: path(u.To), Below: u.at}
}

// beginUndoing starts to undo the part that an answer wants undone.
func (s *Scheduler) beginUndoing(scope *Scope, want *grow.Undoing) {
	scope.undoing = &undoing{Under: want.Under, To: want.To, Note: want.Note}
	part := scope.part()
	for _, n := range sorted(scope.open) {
		if picked, _ := part.Picks(n.Path); picked && !n.stopped {
			s.endScope(scope, impossible(n.Path, "wants undone what has not ended"))
			return
		}
	}
	s.keepUndoing(scope)
	s.undoNext(scope)
}

// keepUndoing stores the part that a scope wants undone.
func (s *Scheduler) keepUndoing(scope *Scope) {
	r := &scope.Rec
	r.Ended, r.Result = grow.EndUndoing, atom.MustEncode(scope.undoing)
	s.write(scope.Unit)
}

// loadUndoing restores the part that a scope wants undone.
func (s *Scope) loadUndoing(r *Record) {
	if r.State != states.TaskRunning || r.Ended != grow.EndUndoing {
		return
	}
	s.undoing = &undoing{}
	if err := r.Result.Decode(s.undoing); err != nil {
		s.undoing = nil
		r.Ended, r.Result = grow.EndNone, nil
	}
}

// undoes reports whether a flow waits for part of its work to be undone.
func (s *Scheduler) undoes() bool {
	if s.root != nil && s.root.undoing != nil {
		return true
	}
	for n := range s.Open {
		for _, c := range n.children {
			if c.undoing != nil {
				return true
			}
		}
	}
	return false
}

// undoNext asks for the next entry that a scope wants undone, after all dropped nodes have ended.
func (s *Scheduler) undoNext(scope *Scope) {
	u := scope.undoing
	if u == nil || u.node != nil || u.asked || scope.stopping {
		return
	}
	for _, n := range scope.open {
		if n.stopped {
			return
		}
	}
	u.asked = true
	s.growth.asks = append(s.growth.asks, ask{scope: scope, undo: true})
}

// undoEntry takes the entry that the driver found, if there is one, and reverts its node.
func (s *Scheduler) undoEntry(scope *Scope, n *Node, at int64) {
	u := scope.undoing
	if u == nil {
		return
	}
	u.asked = false
	if s.flow != states.FlowRunning || len(s.failing.fatal) > 0 || s.stopReason.halted || s.stopReason.parked ||
		scope.stopping {
		return // the undo continues when the run resumes
	}
	if n == nil || n.Spec.Pivot && n.Rec.State == states.TaskSuccess {
		cause := grow.Cause{Kind: grow.Undone, Note: u.Note}
		if u.Failure != nil {
			cause.Kind, cause.Failure = grow.UndoFailed, u.Failure
		}
		s.queueAsk(scope, nil, cause)
		return
	}
	u.at, n.Scope, n.entry = at, scope, undoEntry{height: at, drops: s.undoStack.drops}
	switch {
	case n.Rec.State == states.TaskReverted, n.Rec.givenUp(), n.passed():
		s.undoNext(scope)
	case n.unsettled():
		u.node = n
		s.awaitRun(n)
	case n.Spec.Undo.Stays:
		s.pass(n)
		s.offStack(n)
		s.undoNext(scope)
	case s.undoStack.skipping && n.Rec.State == states.TaskRevertFailure:
		s.undoStack.skipping = false
		s.offStack(n)
		s.setNode(n, states.TaskReverted)
		s.undoNext(scope)
	case n.Rec.State == states.TaskRevertFailure && n.Spec.Undo.Policy.Then == atom.Park && !s.undoStack.mending:
		s.stopReason.parked = true // as before
	case n.Rec.State == states.TaskReverting && n.Rec.Due().After(s.now): // between two attempts
		u.node = n
		s.waitNode(n)
	default:
		u.node = n
		s.undoStack.unwound, s.undoStack.mending = true, false
		s.beginRevert(n)
	}
}

// partReverted handles the end of the revert of a node that a scope wants undone.
func (s *Scheduler) partReverted(n *Node, ev Event) {
	scope, u := n.Scope, n.Scope.undoing
	if ev.Failure == nil {
		n.reverted(&ev)
		u.node = nil
		s.offStack(n)
		s.setNode(n, states.TaskReverted)
		s.goOnUndoing(scope)
		return
	}
	policy := n.Spec.Undo.Policy
	if n.Rec.revertAgainLater(&policy, ev.Failure, s.now, s.random) && !s.stopReason.halted {
		s.write(&n.Unit)
		if scope.stopping {
			u.node = nil
			s.goOnUndoing(scope)
		} else {
			s.waitNode(n)
		}
		return
	}
	u.node = nil
	switch {
	case policy.Then == atom.GoOnUndoing:
		if u.Failure == nil {
			u.Failure = ev.Failure
			s.keepUndoing(scope)
		}
		n.Rec.Intention = states.IntendIgnore // the entry stays on the stack, for the undo of the run
		s.setNode(n, states.TaskRevertFailure)
		s.goOnUndoing(scope)
	case scope.stopping:
		s.setNode(n, states.TaskRevertFailure)
		s.goOnUndoing(scope)
	case policy.Then == atom.Park:
		s.stopReason.parked = true
		s.setNode(n, states.TaskRevertFailure)
	default:
		s.setNode(n, states.TaskRevertFailure)
		s.queueAsk(scope, nil, grow.Cause{Kind: grow.UndoFailed, Note: u.Note, Failure: ev.Failure})
	}
}

// goOnUndoing looks for the next entry. If the scope is ending, the scopes around it handle the rest.
func (s *Scheduler) goOnUndoing(scope *Scope) {
	if !scope.stopping {
		s.undoNext(scope)
		return
	}
	s.stopUndoing(scope)
	s.settleScope(scope)
}

// stopUndoing gives up the undo that a scope wanted, when no revert is running.
func (s *Scheduler) stopUndoing(scope *Scope) {
	u := scope.undoing
	if u == nil || u.node != nil && u.node.executing {
		return
	}
	if u.node != nil {
		s.unwaitNode(u.node)
		s.unwaitExternal(&u.node.Unit)
	}
	scope.undoing = nil
	s.release(scope)
}

// offStack removes an undone entry from the stack, or keeps it until the entries above it are gone.
func (s *Scheduler) offStack(n *Node) {
	switch {
	case n.entry.drops != s.undoStack.drops: // the stack was deleted meanwhile
		return
	case n.entry.height < s.undoStack.height:
		if s.undoStack.holes == nil {
			s.undoStack.holes = map[int64]*Node{}
		}
		s.undoStack.holes[n.entry.height] = n
		return
	}
	s.popUndo(n)
	for hole := s.undoStack.holes[s.undoStack.height]; hole != nil; hole = s.undoStack.holes[s.undoStack.height] {
		delete(s.undoStack.holes, s.undoStack.height)
		s.popUndo(hole)
	}
}
