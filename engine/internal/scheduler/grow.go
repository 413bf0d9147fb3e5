package scheduler

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// beginGrowing starts or resumes the run's own growing flow.
func (s *Scheduler) beginGrowing() {
	if due := s.root.Rec.Due(); s.root.begun && !due.IsZero() {
		switch {
		case due.After(s.now), len(s.growth.asks) > 0: // the language first hears what was accepted before
			s.emit(Command{Op: Deadline, Detail: &Detail{Due: due}})
		case !s.isEnding(): // a run that is ending continues to end
			s.overdue()
			return
		}
	}
	s.takeUp(s.root)
}

// takeUp resumes the open nodes of a scope.
func (s *Scheduler) takeUp(scope *Scope) {
	switch {
	case !scope.begun && scope.Parent == nil:
		s.queueAsk(scope, nil, grow.Cause{Kind: grow.Begin, Input: s.whole})
		return
	case !scope.begun:
		s.queueAsk(scope, nil, grow.Cause{Kind: grow.Begin})
		return
	case scope.ending != nil:
		s.stop(scope)
		return
	}
	if s.wantsMore(scope) {
		s.queueAsk(scope, nil, grow.Cause{Kind: grow.Continue})
	}
	s.askReopened(scope)
	u := scope.undoing
	if u != nil { // found again when it is clear which of the open nodes were dropped
		u.asked = true
	}
	for _, n := range sorted(scope.open) {
		s.takeUpNode(n)
	}
	if u != nil {
		u.asked = false
		s.undoNext(scope)
	}
}

// grown applies the answer of a language.
func (s *Scheduler) grown(g *grow.Growth) {
	q := s.growth.asking
	s.growth.asking = ask{}
	scope := q.scope
	if q.cause.Call {
		if g.Refuse != nil {
			return
		}
		s.endCalled(&q)
	}
	s.dropMessage(&q, false)
	if len(g.Events) > 0 || g.Untold > 0 {
		s.emit(Command{Op: Emit, Scope: scope, Detail: &Detail{Events: g.Events, Untold: g.Untold}})
	}
	if q.cause.Kind == grow.Stopped { // the language was told, and cannot change that
		s.tell(scope, g)
		s.beginDetached(scope, g.Add)
		s.endSpared(scope, g.Leave)
		s.endScope(scope, &grow.End{Failure: s.stopReason.pendingFailure})
		return
	}
	if q.cause.Kind == grow.Undone || q.cause.Kind == grow.UndoFailed {
		scope.undoing = nil
	}
	s.remember(&q, g)
	s.release(scope)
	s.listen(scope, g.Listen && g.End == nil)
	if q.node != nil {
		s.advanceNode(q.node, q.cause.Kind, g)
	}
	s.tell(scope, g)
	s.askPerson(scope, g)
	if q.cause.Kind == grow.Overdue {
		s.endSpared(scope, g.Leave)
	}
	s.changeNodes(scope, g)
	s.conclude(&q, g)
}

// changeNodes drops, adds and leaves the nodes that an answer names.
func (s *Scheduler) changeNodes(scope *Scope, g *grow.Growth) {
	for _, name := range g.Drop {
		if n := scope.open[name]; n != nil && !n.stopped {
			s.dropNode(n)
		}
	}
	if g.DropNext > 0 {
		s.dropNext(scope, g.DropNext)
	}
	for i := range g.Add {
		s.add(scope, g.Add[i])
	}
	for _, name := range g.Leave {
		if n := scope.open[name]; n != nil && !n.stopped {
			s.leaveNode(n)
		}
	}
}

// conclude does what an answer wants when its nodes have changed: it ends the flow, undoes a part of it, or asks again.
func (s *Scheduler) conclude(q *ask, g *grow.Growth) {
	scope := q.scope
	switch {
	case scope.ending != nil: // one of the nodes could not be added
	case g.Undo != nil && (g.End != nil || g.More != nil || g.Listen):
		s.endScope(scope, impossible(scope.Path, "wants something undone first, and something else first, too"))
	case g.Undo != nil:
		s.beginUndoing(scope, g.Undo)
	case g.End != nil && g.End.Successor != nil && scope.Parent != nil:
		s.endScope(scope, impossible(scope.Path, "wants another run to continue a part of this run"))
	case g.End != nil:
		if pending := pendingOf(g.End); pending != NothingPending && scope.Parent == nil {
			s.stopReason.pending = pending
			s.emit(Command{Op: PendingFailure, PendingOutcome: pending, Detail: &Detail{}})
		}
		scope.leave(q.node, g.End)
		s.endScope(scope, g.End)
	case g.More != nil:
		s.queueAsk(scope, nil, grow.Cause{Kind: grow.Continue})
	case len(scope.open) == 0 && !g.Listen:
		s.endScope(scope, impossible(scope.Path, fmt.Sprintf("answered %q of %q with nothing to wait for", q.cause.Kind,
			q.cause.Name)))
	}
}

// advanceNode applies what an answer says about the node that its question concerned.
func (s *Scheduler) advanceNode(node *Node, kind grow.CauseKind, g *grow.Growth) {
	switch {
	case kind == grow.Taken, kind == grow.Called:
		s.noted(node, kind, g.Note)
	case g.Again != nil && kind == grow.Reopened:
		s.startOver(node, g.Again)
	case kind == grow.Reopened:
		s.leaveEnded(node)
	case g.Again != nil && node.Rec.State == states.TaskFailure:
		s.again(node, g.Again)
	default:
		s.retire(node)
	}
}

// tell emits what an answer sets and sends outside its flow.
func (s *Scheduler) tell(scope *Scope, g *grow.Growth) {
	if len(g.Labels) > 0 {
		s.emit(Command{Op: Label, Detail: &Detail{Labels: g.Labels}})
	}
	if len(g.Send) > 0 || len(g.Out) > 0 {
		s.emit(Command{Op: Tell, Scope: scope, Detail: &Detail{Messages: g.Send, Out: g.Out}})
	}
}

// askPerson emits that a person must decide about the run, or need not any longer.
func (s *Scheduler) askPerson(scope *Scope, g *grow.Growth) {
	if g.Person == nil || g.End != nil || scope.Parent != nil {
		return
	}
	var why []*atom.Failure
	if g.Person.Message != "" {
		why = []*atom.Failure{{Code: atom.CodeNeedsPerson, Message: g.Person.Message, Atom: g.Person.Atom}}
	}
	s.emit(Command{Op: NeedPerson, Detail: &Detail{Failures: why}})
}

// beginDetached begins the runs that a language wants although its own run was ended from outside.
func (s *Scheduler) beginDetached(scope *Scope, specs []grow.Spec) {
	for i := range specs {
		spec := &specs[i]
		if _, taken := scope.open[spec.Name]; taken || spec.Kind != grow.Nested || spec.Child == nil || !spec.Child.Detached {
			continue
		}
		s.startNode(s.newNode(scope, *spec))
	}
}

// impossible returns the end of a flow whose language gave an answer that cannot be applied.
func impossible(path, how string) *grow.End {
	return &grow.End{Failure: &atom.Failure{Atom: path, Code: atom.CodeLanguage, Message: "the flow's language " + how}}
}

// remember stores what an answer changes in its scope.
func (s *Scheduler) remember(q *ask, g *grow.Growth) {
	scope, r := q.scope, &q.scope.Rec
	changed := string(r.Result) != string(g.More)
	r.Result = g.More
	if r.Ended == grow.EndUndoing || r.Ended == grow.EndLeft && g.End == nil ||
		r.Ended == grow.EndReopened && q.node == nil {
		r.Ended, changed = grow.EndNone, true
	}
	if q.cause.Kind == grow.Overdue && g.End == nil { // the flow continues without what was cancelled
		scope.left = nil
	}
	if g.Memory != nil {
		scope.Memory = g.Memory
		changed = changed || scope.Parent != nil
	}
	if g.Outer != nil && scope.Parent != nil {
		s.root.Memory = g.Outer
		s.emit(Command{Op: Remember, Detail: &Detail{Memory: g.Outer}})
	}
	if scope.Parent == nil && (g.Memory != nil || q.cause.Kind == grow.Begin) {
		s.emit(Command{Op: Remember, Detail: &Detail{Memory: scope.Memory}})
	}
	switch {
	case q.cause.Kind == grow.Begin && scope.Parent != nil:
		scope.begun = true
		s.setScope(scope, states.TaskRunning)
		return
	case q.cause.Kind == grow.Begin, q.cause.Kind == grow.Reopened && scope.Parent == nil:
		scope.begun = true
		if !g.Deadline.IsZero() {
			r.setExtra(func(x *RecordExtra) { x.Due = g.Deadline })
			s.emit(Command{Op: Deadline, Detail: &Detail{Due: g.Deadline}})
			changed = true
		}
	case q.cause.Kind == grow.Overdue && (g.End == nil || !g.End.TimedOut):
		r.clearDue()
		changed = true
	}
	if changed {
		s.write(scope.Unit)
	}
}

// add creates a node and starts it.
func (s *Scheduler) add(scope *Scope, spec grow.Spec) {
	if scope.ending != nil {
		return
	}
	if _, taken := scope.open[spec.Name]; taken {
		s.endScope(scope, impossible(scope.Inside(spec.Name), "added two nodes of one name"))
		return
	}
	n := s.newNode(scope, spec)
	if s.flow != states.FlowRunning || scope.stopping {
		s.write(&n.Unit)
		return
	}
	s.startNode(n)
}

// newNode opens a node in a scope.
func (s *Scheduler) newNode(scope *Scope, spec grow.Spec) *Node {
	s.growth.serial++
	s.growth.alive++
	n := nodeOf(scope, scope.Inside(spec.Name), &spec, &Record{})
	n.Kept, n.serial = true, s.growth.serial
	if scope.open == nil {
		scope.open = map[string]*Node{}
	}
	scope.open[spec.Name] = n
	return n
}
