package scheduler

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A run of a growing flow that did not succeed can be reopened. For that, the record of each flow that did not
// succeed keeps what was open in it. The driver loads what these records name, and only that. One commit reopens all
// of it: the flows are RUNNING again, and their nodes have a mark. Then the scheduler asks the language, from the
// run's own flow inwards, what to start again. A process that resumes the run finds in the marks what was not asked
// yet.

// left is what was open in a flow that ended without success.
type left struct {
	Open    []string `json:"open,omitempty"`    // names of its open nodes, and of the node whose failure ended it
	Note    []byte   `json:"note,omitempty"`    // what the language needs to continue: End.Reopen, or the note of More
	EndNote []byte   `json:"endNote,omitempty"` // of a child: what its parent is told, see [grow.End]
	Undoing bool     `json:"undoing,omitempty"` // part of it was being undone
	Unbegun bool     `json:"unbegun,omitempty"` // its language was not asked yet
	// What was ended with the flow, see [aborted]: the paths of its nodes that had ended before, and by the name of a
	// fork what was ended below it.
	Accepted []string           `json:"accepted,omitempty"`
	Below    map[string]aborted `json:"below,omitempty"`
}

// leftIn returns what a record of a flow says was open; nil if it says nothing.
func leftIn(r *Record) *left {
	if r.Ended != grow.EndFailure && r.Ended != grow.EndLeft || len(r.Result) == 0 {
		return nil
	}
	l := &left{}
	if err := r.Result.Decode(l); err != nil {
		return nil
	}
	return l
}

// OpenAtEnd returns the names of the nodes that were open in the flow of a loaded record when it ended. It returns an
// error if the flow cannot be reopened, and false if the flow had not begun.
func OpenAtEnd(r *Record) (names []string, begun bool, err error) {
	l := leftIn(r)
	switch {
	case l == nil && r.State == states.TaskCancelled && r.Ended == grow.EndNone, r.State == states.TaskPending,
		l != nil && l.Unbegun:
		return nil, false, nil
	case l == nil:
		return nil, true, errors.New("what was open when the run ended was not recorded, because an earlier version of " +
			"Ebb ended it")
	case l.Undoing:
		return nil, true, errors.New("part of the run was being undone when the run ended")
	}
	return l.Open, true, nil
}

// leave records why a scope fails: what the language needs to continue, or the node whose failure was not handled.
func (s *Scope) leave(node *Node, end *grow.End) {
	if end.Failure == nil {
		return
	}
	if s.left == nil {
		s.left = &left{}
	}
	switch {
	case end.Reopen != nil:
		s.left.Note = end.Reopen
	case node != nil && node.Rec.State == states.TaskFailure:
		s.left.Open = append(s.left.Open, node.Spec.Name)
	}
}

// leaveOpen records what is open in a scope that ends without success, before its nodes are cancelled.
func (s *Scheduler) leaveOpen(scope *Scope, nodes []*Node) {
	if scope.ending != nil && scope.ending.Failure == nil || scope.Parent != nil && !scope.begun {
		return
	}
	if scope.left == nil {
		scope.left = &left{}
	}
	l, r := scope.left, &scope.Rec
	if l.Note == nil && (s.wantsMore(scope) || r.Ended == grow.EndReopened) {
		l.Note = r.Result
	}
	l.Undoing, l.Unbegun = l.Undoing || scope.undoing != nil, !scope.begun
	had := map[string]bool{} // by the process that died while it cancelled them
	for _, name := range l.Open {
		had[name] = true
	}
	for _, n := range nodes {
		if !n.stopped && !n.dropped() && !had[n.Spec.Name] {
			l.Open = append(l.Open, n.Spec.Name)
		}
	}
	if scope.ending == nil {
		r.Ended = grow.EndLeft
	}
	r.Result = atom.MustEncode(l)
	s.write(scope.Unit)
}

var (
	errNotEnded  = errors.New("the run has not ended; only a run that failed, timed out or was cancelled can be retried")
	errSucceeded = errors.New("the run has succeeded; there is nothing to retry")
	errUndone    = errors.New("the run was undone, or partly undone, and what was undone is never reopened; start " +
		"another run")
	errUndoFailed = errors.New("its undo failed, and what was undone is never reopened; retry the failed " +
		"reverts instead (--revert)")
	errReopensWhole = errors.New("a run of a language is retried where it failed; name no atom to retry from")
)

// reopens reports whether a command reopens a run of a growing flow. Such a run must have ended, so the command comes
// with the event that begins the run.
func (s *Scheduler) reopens(o *OperatorCommand) bool {
	return s.root != nil && o != nil && o.Kind == Rewind && !o.Keep
}

// refuseReopening returns why a run of a growing flow cannot be reopened.
func (s *Scheduler) refuseReopening(o *OperatorCommand) error {
	switch {
	case s.flow == states.FlowSuccess:
		return errSucceeded
	case s.flow == states.FlowFailure && s.RevertFailed():
		return errUndoFailed
	case s.flow == states.FlowReverted, s.undoStack.unwound, s.undoes():
		return errUndone
	case s.flow != states.FlowFailure:
		return errNotEnded
	case o.Path != "":
		return errReopensWhole
	default:
		_, _, err := OpenAtEnd(&s.root.Rec)
		return err
	}
}

// LoadLeft restores what was open when the run ended, for a command that reopens it.
func (s *Scheduler) LoadLeft(records []Loaded) { s.loadGrown(records, true) }

// reopen makes a run that has ended without success continue.
func (s *Scheduler) reopen(o *OperatorCommand) {
	s.emit(Command{Op: CommandApplied, Detail: &Detail{OperatorCommand: o}})
	s.stopReason = stopReason{}
	s.emit(Command{Op: PendingFailure, Detail: &Detail{}})
	s.failing.revAll, s.failing.fatal = false, nil
	r, l := &s.root.Rec, leftIn(&s.root.Rec)
	s.setFailure(s.root.Unit, nil)
	s.resetAtom(s.root.Unit)
	r.Result, r.Extra, r.Ended = nil, nil, grow.EndNone
	if l == nil || l.Unbegun {
		return
	}
	r.Attempt, s.root.begun = 1, true
	s.goOnFrom(s.root, l)
	s.set(s.root.Unit, states.TaskRunning, states.IntendExecute)
	s.readySet.redo = append(s.readySet.redo, 0)
	for _, n := range sorted(s.root.open) {
		s.markReopened(n)
	}
}

// goOnFrom prepares the question what to start again in a flow.
func (s *Scheduler) goOnFrom(scope *Scope, l *left) {
	r := &scope.Rec
	r.Ended, r.Result, r.Failure = grow.EndReopened, l.Note, nil
	scope.left = nil
}

// markReopened makes a node that had ended, and all that was open in it, open again.
func (s *Scheduler) markReopened(n *Node) {
	n.Kept = true
	if n.Rec.State != states.TaskSuccess { // else the language is told of its end, which it does not know yet
		n.Rec.Ended = grow.EndReopened
	}
	s.write(&n.Unit)
	for _, c := range n.children {
		if l := leftIn(&c.Rec); l != nil {
			s.goOnFrom(c, l)
			c.begun = true
			s.setScope(c, states.TaskRunning)
		} else {
			c.Rec, c.begun = Record{Incarnation: c.Rec.Incarnation}, false
			s.write(c.Unit)
		}
		for _, inner := range sorted(c.open) {
			s.markReopened(inner)
		}
	}
}

// askReopened asks what to start again in a flow. The questions about its nodes come after that about the flow.
func (s *Scheduler) askReopened(scope *Scope) {
	if r := &scope.Rec; scope.begun && r.Ended == grow.EndReopened {
		s.queueAsk(scope, nil, grow.Cause{Kind: grow.Reopened, Note: r.Result})
	}
}

// askReopenedNode asks whether to start a node again.
func (s *Scheduler) askReopenedNode(n *Node) {
	s.queueAsk(n.Scope, n, grow.Cause{
		Kind: grow.Reopened, Name: n.Spec.Name, Note: n.Spec.Note, Attempt: int(n.Rec.Attempt), Failure: n.Rec.Failure,
	})
}

// leaveEnded keeps a reopened node ended, because its language does not start it again.
func (s *Scheduler) leaveEnded(n *Node) {
	for _, c := range slices.Clone(n.children) {
		s.stop(c)
	}
	s.retire(n)
}

// startOver starts a reopened node again. A fork continues with the children that had not succeeded.
func (s *Scheduler) startOver(n *Node, again *grow.Again) {
	n.change(again)
	n.Rec.Ended, n.Rec.Result, n.Rec.Failure, n.Rec.Extra = grow.EndNone, nil, nil, nil
	if n.Spec.Kind == grow.Fork && n.Rec.Attempt > 0 {
		s.setNode(n, states.TaskRunning)
		s.takeUpNode(n)
		return
	}
	if err := states.CheckReset(n.Rec.State, states.TaskPending); err != nil {
		panic(fmt.Errorf("scheduler: node %q: %w", n.Path, err))
	}
	from := n.Rec.State
	n.Rec.State, n.Rec.Intention = states.TaskPending, states.IntendExecute
	n.Rec.Incarnation++
	n.Rec.Attempt = 0
	n.Spec.Due = s.now.Add(again.After)
	s.emit(Command{Op: Notify, Unit: &n.Unit, From: from, To: states.TaskPending, Rec: n.Rec})
	if s.flow == states.FlowRunning && !n.Scope.stopping {
		s.startNode(n)
	}
}
