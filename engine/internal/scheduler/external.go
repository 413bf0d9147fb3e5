package scheduler

import (
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// Another party may end an atom: the party that has its token, or its child run. The atom is then RUNNING, its end
// mark is EndDeferred, and only its record is kept.

// awaited reports whether another party, not a call, completed the atom.
func (s *Scheduler) awaited(ev *Event) bool {
	switch {
	case ev.Revert && ev.Node != nil:
		return ev.Node.elsewhere
	case ev.Revert:
		return s.flight.undone[ev.Atom]
	case ev.Node != nil:
		return ev.Node.Awaits()
	}
	return s.rec[ev.Atom].Awaits()
}

// revertDeferred records that another party ends a revert. This is not stored: a process that resumes the run
// starts the revert again and finds the existing token.
func (s *Scheduler) revertDeferred(ev *Event) {
	s.flight.busy--
	s.flight.reverting++
	if n := ev.Node; n != nil {
		s.waitExternal(n)
		return
	}
	s.flight.waits++
	if s.flight.undone == nil {
		s.flight.undone = map[int32]bool{}
	}
	s.flight.undone[ev.Atom] = true
}

// revertAwaited records that such a revert has ended, or is no longer awaited.
func (s *Scheduler) revertAwaited(a int32, n *Node) {
	s.flight.reverting--
	if n != nil {
		s.unwaitExternal(n)
		return
	}
	s.flight.waits--
	delete(s.flight.undone, a)
}

// voidRevert makes the token of a revert void.
func (s *Scheduler) voidRevert(a int32) {
	if s.flight.undone[a] {
		s.revertAwaited(a, nil)
		s.emit(Command{Op: Void, Atom: a})
	}
}

// late reports whether the execution of a node has ended before: the answer that started its child run also dropped
// the node, or ended the flow.
func (ev *Event) late() bool {
	n := ev.Node
	return n != nil && !ev.Revert && !n.executing && !n.Awaits()
}

// Awaits reports whether another party ends the atom.
func (r *Record) Awaits() bool { return r.State == states.TaskRunning && r.Ended == EndDeferred }

// Awaits reports whether another party ends the node.
func (n *Node) Awaits() bool { return n.Rec.Awaits() }

// deferred records that the call of an atom has ended, but not the atom.
func (s *Scheduler) deferred(ev Event) {
	if ev.Revert {
		s.revertDeferred(&ev)
		return
	}
	if ev.late() {
		return
	}
	if n := ev.Node; n != nil && n.Awaits() { // its child run exists
		s.reportCall(n)
		return
	}
	s.flight.busy--
	if n := ev.Node; n != nil {
		n.executing = false
		n.queued = false // a worker may take it
		s.waitExternal(n)
		n.Rec.Ended = EndDeferred
		if ev.Reports() && !n.stopped {
			n.Rec.Result = ev.Result
			if ev.Result == nil {
				n.Rec.Result = atom.Null
			}
		}
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
		if n.stopped {
			s.stopNode(n)
			s.left(n.Scope)
			return
		}
		s.reportCall(n)
		return
	}
	s.flight.waits++
	r := &s.rec[ev.Atom]
	r.Ended = EndDeferred
	s.emit(Command{Op: Write, Atom: ev.Atom, Rec: *r})
	if r.Intention != states.IntendExecute || s.isEnding() {
		s.void(ev.Atom)
	}
}

// Reports reports whether the language is told that a call has ended without ending its node.
func (ev *Event) Reports() bool {
	return ev.Kind == Deferred && ev.Node != nil && (ev.Node.Spec.Report || ev.Node.Spec.Ends && ev.Result != nil)
}

// reportCall asks the language about a node whose task has returned and which another party will end. Until the
// language answers, the record of the node contains the task's return value as its result.
func (s *Scheduler) reportCall(n *Node) {
	if n.Rec.Result != nil {
		s.wonder(n.Scope, n, flow.Cause{
			Kind: flow.Called, Name: n.Spec.Name, Note: n.Spec.Note, Attempt: int(n.Rec.Attempt), Result: n.Rec.Result,
			Run: n.Spec.Kind == flow.Nested,
		})
	}
}

// noted stores the note of a language for a node that continues.
func (s *Scheduler) noted(n *Node, kind flow.CauseKind, note atom.Value) {
	if note == nil && kind != flow.Called {
		return
	}
	if kind == flow.Called {
		n.Rec.Result = nil
	}
	if note != nil {
		n.Spec.Note = note
	}
	s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
}

// void makes the atom's token void: the outcome of the attempt is unknown.
func (s *Scheduler) void(a int32) {
	r := &s.rec[a]
	if !r.Awaits() {
		return
	}
	s.flight.waits--
	s.emit(Command{Op: Void, Atom: a})
	s.set(a, states.TaskCancelled, r.Intention)
}

// awaitElsewhere starts an atom that makes no call and is ended by a signal, or by the run that it
// begins: begin says which.
func (s *Scheduler) awaitElsewhere(a int32, begin *Command) {
	r := &s.rec[a]
	if r.State != states.TaskRunning {
		r.Attempt++
	}
	r.Ended = EndDeferred
	s.flight.waits++
	// First, because the time limit of the wait, and the child run, must exist when the wait starts.
	begin.Rec = *r
	s.emit(*begin)
	if r.State == states.TaskRunning {
		s.emit(Command{Op: Write, Atom: a, Rec: *r})
		return
	}
	s.set(a, states.TaskRunning, r.Intention)
}

// awaitNode starts a node that makes no call.
func (s *Scheduler) awaitNode(n *Node) {
	n.Rec.Attempt++
	n.Rec.Ended, n.Rec.Result, n.byToken = EndDeferred, nil, false
	if n.Spec.Kind == flow.Nested && n.Spec.Report { // the language is told that the child run exists
		n.Rec.Result = atom.Null
	}
	n.Rec.clearDue()
	s.setNode(n, states.TaskRunning)
	s.waitExternal(n)
	op := Await
	if n.Spec.Kind == flow.Nested {
		op = Spawn
	}
	s.emit(Command{Op: op, Atom: -1, Node: n, Rec: n.Rec})
}

func (s *Scheduler) waitExternal(n *Node) {
	if !n.elsewhere {
		n.elsewhere = true
		s.flight.waits++
	}
}

func (s *Scheduler) unwaitExternal(n *Node) {
	if n.elsewhere {
		n.elsewhere = false
		s.flight.waits--
	}
}

// called reports whether a node's attempt starts with the call of a task.
func (n *Node) called() bool {
	return n.Spec.Kind == flow.Work && (n.Spec.Task != "" || n.Spec.Token == "")
}

// told asks a language about a message to the run: the run's own language, that of the flow that the message names, or
// that of the node that the message concerns. If that language no longer listens, told drops the message.
func (s *Scheduler) told(ev Event) {
	scope := s.root
	switch {
	case ev.Node != nil:
		scope = ev.Node.Scope
	case ev.Scope != nil:
		scope = ev.Scope
	}
	if scope == nil || scope.closed || scope.stopping || scope.ending != nil || s.rec[0].State != states.TaskRunning {
		s.dropMessage(&ask{message: ev.N}, true)
		return
	}
	s.growth.asks = append(s.growth.asks, ask{scope: scope, node: ev.Node, cause: *ev.Cause, message: ev.N})
}

// Listens reports whether the run can process a message now.
func (s *Scheduler) Listens() bool {
	return s.flow == states.FlowRunning && (s.root == nil || s.root.begun || s.rec[0].State != states.TaskRunning &&
		s.rec[0].State != states.TaskPending)
}

// ScopeAt returns the open flow at a path; nil if there is none.
func (s *Scheduler) ScopeAt(path string) *Scope {
	scope := s.root
	for scope != nil && scope.Path != path {
		scope = scope.towards(path)
	}
	return scope
}

// towards returns the open flow inside a scope that is at a path, or that the path leads through; nil if there is none.
func (s *Scope) towards(path string) *Scope {
	for _, n := range s.open {
		if !strings.HasPrefix(path, n.Path) {
			continue
		}
		for _, c := range n.children {
			if rest, ok := strings.CutPrefix(path, c.Path); ok && (rest == "" || rest[0] == '/') {
				return c
			}
		}
	}
	return nil
}

// Open yields the open nodes of a growing flow.
func (s *Scheduler) Open(yield func(*Node) bool) {
	if s.root == nil {
		return
	}
	for scopes := []*Scope{s.root}; len(scopes) > 0; {
		scope := scopes[len(scopes)-1]
		scopes = scopes[:len(scopes)-1]
		for _, n := range scope.open {
			if !yield(n) {
				return
			}
			scopes = append(scopes, n.children...)
		}
	}
}

// Waits reports whether the run only waits.
func (s *Scheduler) Waits() bool {
	return s.flow == states.FlowRunning && s.flight.busy == 0 && s.flight.waits > 0 && !s.growth.asked && !s.postponed() &&
		s.front.startAt >= len(s.front.wave) && len(s.failing.fatal) == 0
}

// onlyWaited reports whether a loaded run only waited when it was released. If so, it resumes as if it had not been
// released.
func (s *Scheduler) onlyWaited() bool {
	if s.flow != states.FlowRunning || s.front.readyN > 0 || s.ending.pending != NothingPending {
		return false
	}
	if s.root != nil && s.undoes() {
		return false
	}
	waits := 0
	for i := range s.rec {
		r := &s.rec[i]
		switch {
		case s.root != nil && r.State == states.TaskRunning:
			if !s.root.begun || s.root.ending != nil || s.wantsMore(s.root) {
				return false
			}
		case r.Awaits(), r.State == states.TaskRetrying && !r.Due().IsZero():
			waits++
		case r.State == states.TaskRunning, r.State == states.TaskReverting, r.State == states.TaskRetrying,
			r.State == states.TaskFailure:
			return false
		}
	}
	for n := range s.Open {
		switch {
		case n.Spec.Kind == flow.Fork && n.Rec.State == states.TaskRunning && !n.decided && !n.dropped():
			if !s.onlyChildren(n) {
				return false
			}
		case n.onlyWaits():
			waits++
		default:
			return false
		}
	}
	return waits > 0 || s.root != nil && s.rec[0].Awaits()
}

// onlyChildren reports whether a fork only waits for children that have all started.
func (s *Scheduler) onlyChildren(n *Node) bool {
	if n.allowed() > n.begun {
		return false
	}
	for _, c := range n.children {
		if !c.begun || c.ending != nil || s.wantsMore(c) {
			return false
		}
	}
	return true
}

// onlyWaits reports whether a node waits for a message or a time, and is not being cancelled. A node with a result
// does not only wait: the driver still has to report its call to its language.
func (n *Node) onlyWaits() bool {
	if n.decided || n.dropped() {
		return false
	}
	if n.Awaits() {
		return n.Rec.Result == nil
	}
	return n.waitsForTime()
}

// waitsForTime reports whether a node waits for a time that its record contains.
func (n *Node) waitsForTime() bool {
	switch n.Rec.State {
	case states.TaskPending, states.TaskRetrying:
		return !n.Rec.Due().IsZero()
	case states.TaskRunning:
		return n.Spec.Kind == flow.Timer
	default:
		return false
	}
}

// Outer returns the memory of the run's own growing flow.
func (s *Scheduler) Outer() atom.Value { return s.root.Memory }

// listen makes the run's own flow wait for messages, or stop waiting. Its record then has the mark of an atom that
// another party ends.
func (s *Scheduler) listen(scope *Scope, on bool) {
	if scope.Parent != nil || scope.listens == on {
		return
	}
	scope.listens = on
	r := &s.rec[0]
	if on {
		s.flight.waits++
		r.Ended = EndDeferred
	} else {
		s.flight.waits--
		r.Ended = EndNone
	}
	s.keep(scope)
}

// leaveNode stops waiting for a node without ending its child run.
func (s *Scheduler) leaveNode(n *Node) {
	if n.Spec.Kind != flow.Nested || !n.Awaits() {
		s.dropNode(n)
		return
	}
	n.stopped = true
	s.unwaitExternal(n)
	s.emit(Command{Op: Void, Atom: -1, Node: n, Abandoned: true})
	s.cancelled(n)
}

// spares reports whether a node that is to be cancelled waits until its language has answered. When the run's own flow
// is ended from outside, the language may leave child runs running.
func (c *cancelling) spares(n *Node) bool {
	return c.scope.Parent == nil && c.scope.outside != flow.Begin && c.scope.ending == nil &&
		n.Spec.Kind == flow.Nested && n.Awaits() && !n.dropped()
}

// endSpared ends the nodes that waited for the answer of their language: those that it names continue.
func (s *Scheduler) endSpared(scope *Scope, leave []string) {
	for _, name := range leave {
		if n := scope.open[name]; n != nil && n.spared {
			s.leaveNode(n)
		}
	}
	if scope.spared == 0 {
		return
	}
	for _, n := range sorted(scope.open) {
		if n.spared {
			s.stopNode(n)
		}
	}
}
