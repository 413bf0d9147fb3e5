package scheduler

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// ask is a question to a scope's language that has not been asked yet.
type ask struct {
	scope   *Scope
	node    *Node // what the cause is about; nil when it is about no node
	cause   flow.Cause
	message int64 // that told of it; 0 when none did
	undo    bool  // it is no question, but wants the next entry that the scope wants undone
	left    bool  // it is no question: something dropped has left the scope, which may have nothing to wait for now
}

// mustWait reports whether the question waits until what its scope wants first is done: to
// be asked for more, or to have something undone.
func (s *Scheduler) mustWait(q *ask) bool {
	switch q.cause.Kind {
	case flow.Undone, flow.UndoFailed, flow.Continue, flow.Overdue, flow.Stopped:
		return false
	default:
		return !q.undo && (q.scope.undoing != nil || s.wantsMore(q.scope))
	}
}

// wantsMore reports whether a scope's language has asked to be asked again. It hears of
// nothing else before, because what it noted for that is kept in the scope's record.
func (s *Scheduler) wantsMore(scope *Scope) bool {
	r := s.record(scope)
	return scope.begun && r.Result != nil && (r.Ended == EndNone || r.Ended == EndDeferred)
}

// matters reports whether a question is still to be asked. One is not if its scope has
// ended or is ending, its node was stopped, or what it is about was done without it.
func (s *Scheduler) matters(q *ask) bool {
	switch kind := q.cause.Kind; {
	case q.scope.closed, q.node != nil && q.node.stopped, q.undo && q.scope.undoing == nil:
		return false
	case kind == flow.Continue && !s.wantsMore(q.scope):
		return false
	default:
		return !q.scope.stopping || kind == flow.Overdue || kind == flow.Stopped
	}
}

// release lets a scope's questions be asked that waited.
func (s *Scheduler) release(scope *Scope) {
	if len(scope.held) > 0 && scope.undoing == nil && !s.wantsMore(scope) {
		s.growth.asks = append(scope.held, s.growth.asks...)
		scope.held = nil
	}
}

func (s *Scheduler) wonder(scope *Scope, node *Node, cause flow.Cause) {
	s.growth.asks = append(s.growth.asks, ask{scope: scope, node: node, cause: cause})
}

// nextAsk puts the next question that still matters. It reports whether there
// was one, or anything else came of looking.
func (s *Scheduler) nextAsk() bool {
	if s.flow == states.FlowSuspending { // the records tell what to ask when the run goes on
		return false
	}
	for s.wonders() {
		q := s.firstAsk()
		if !s.matters(&q) {
			s.dropMessage(&q)
			continue
		}
		if q.left {
			if s.starved(q.scope) {
				s.endScope(q.scope, impossible(q.scope.Path, "dropped all there was to wait for"))
				return true
			}
			continue
		}
		if s.mustWait(&q) {
			q.scope.held = append(q.scope.held, q)
			continue
		}
		s.growth.asking, s.growth.asked = q, true
		if q.undo {
			s.emit(Command{Op: AskUndo, Atom: -1, Scope: q.scope, Detail: &Detail{Part: q.scope.part()}})
			return true
		}
		if q.cause.Kind == flow.Continue {
			q.cause.Note = s.record(q.scope).Result
		}
		s.emit(Command{Op: AskLanguage, Atom: -1, Scope: q.scope, Node: q.node, Detail: &Detail{Cause: &q.cause}})
		return true
	}
	s.growth.asks = nil
	return false
}

// dropMessage takes the message out of the inbox that a question was about.
func (s *Scheduler) dropMessage(q *ask) {
	if q.message > 0 {
		s.emit(Command{Op: CommandApplied, Atom: -1, Detail: &Detail{OperatorCommand: &OperatorCommand{N: q.message}}})
	}
}

// beginGrowing starts the run's own growing flow, or takes it up.
func (s *Scheduler) beginGrowing() {
	if due := s.rec[0].Due(); s.root.begun && !due.IsZero() {
		switch {
		case due.After(s.now):
			s.emit(Command{Op: Deadline, Atom: -1, Detail: &Detail{Due: due}})
		case !s.isEnding(): // else it goes on to the end that it is on its way to
			s.overdue()
			return
		}
	}
	s.takeUp(s.root)
}

// takeUp goes on with what was found open in a scope.
func (s *Scheduler) takeUp(scope *Scope) {
	switch {
	case !scope.begun && scope.Parent == nil:
		s.wonder(scope, nil, flow.Cause{Kind: flow.Begin, Input: s.whole})
		return
	case !scope.begun:
		s.wonder(scope, nil, flow.Cause{Kind: flow.Begin})
		return
	case scope.ending != nil:
		s.stop(scope)
		return
	}
	if s.wantsMore(scope) {
		s.wonder(scope, nil, flow.Cause{Kind: flow.Continue})
	}
	u := scope.undoing
	if u != nil { // it is looked for anew, once it is clear what of the open nodes was dropped
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

// dropAll drops all open nodes of a flow.
func (s *Scheduler) dropAll(scope *Scope) {
	for _, n := range sorted(scope.open) {
		if !n.stopped {
			s.dropNode(n)
		}
	}
}

// grown does what a language answered.
func (s *Scheduler) grown(g *flow.Growth) {
	q := s.growth.asking
	s.growth.asking = ask{}
	scope, node := q.scope, q.node
	s.dropMessage(&q)
	if len(g.Events) > 0 || g.Untold > 0 {
		s.emit(Command{Op: Emit, Atom: -1, Scope: scope, Detail: &Detail{Events: g.Events, Untold: g.Untold}})
	}
	if q.cause.Kind == flow.Stopped { // the language has been told; it has no say
		s.endScope(scope, &flow.End{Failure: s.ending.pendingFailure})
		return
	}
	if q.cause.Kind == flow.Undone || q.cause.Kind == flow.UndoFailed {
		scope.undoing = nil
	}
	s.remember(&q, g)
	s.release(scope)
	s.listen(scope, g.Listen && g.End == nil)
	switch {
	case node == nil:
	case q.cause.Kind == flow.Taken, q.cause.Kind == flow.Called:
		s.noted(node, q.cause.Kind, g.Note)
	case g.Again != nil && node.Rec.State == states.TaskFailure:
		s.again(node, g.Again)
	default:
		s.retire(node)
	}
	if len(g.Labels) > 0 {
		s.emit(Command{Op: Label, Atom: -1, Detail: &Detail{Labels: g.Labels}})
	}
	if len(g.Send) > 0 || len(g.Out) > 0 {
		s.emit(Command{Op: Tell, Atom: -1, Scope: scope, Detail: &Detail{Messages: g.Send, Out: g.Out}})
	}
	for _, name := range g.Drop {
		if n := scope.open[name]; n != nil && !n.stopped {
			s.dropNode(n)
		}
	}
	if g.DropOpen {
		s.dropAll(scope)
	}
	for _, name := range g.Leave {
		if n := scope.open[name]; n != nil && !n.stopped {
			s.leaveNode(n)
		}
	}
	for i := range g.Add {
		s.add(scope, g.Add[i])
	}
	switch {
	case scope.ending != nil: // what was added could not be
	case g.Undo != nil && (g.End != nil || g.More != nil || g.Listen):
		s.endScope(scope, impossible(scope.Path, "wants something undone first, and something else first, too"))
	case g.Undo != nil:
		s.beginUndoing(scope, g.Undo)
	case g.End != nil:
		if pending := pendingOf(g.End); pending != NothingPending && scope.Parent == nil {
			s.ending.pending = pending
			s.emit(Command{Op: PendingFailure, Atom: -1, PendingOutcome: pending, Detail: &Detail{}})
		}
		s.endScope(scope, g.End)
	case g.More != nil:
		s.wonder(scope, nil, flow.Cause{Kind: flow.Continue})
	case len(scope.open) == 0 && !g.Listen:
		s.endScope(scope, impossible(scope.Path, fmt.Sprintf("answered %q of %q with nothing to wait for", q.cause.Kind, q.cause.Name)))
	}
}

// impossible is how a flow ends whose language gave an answer that cannot be
// followed.
func impossible(path, how string) *flow.End {
	return &flow.End{Failure: &atom.Failure{Atom: path, Code: atom.CodeLanguage, Message: "the flow's language " + how}}
}

// remember writes what an answer changes about its scope.
func (s *Scheduler) remember(q *ask, g *flow.Growth) {
	scope, r := q.scope, s.record(q.scope)
	changed := string(r.Result) != string(g.More)
	r.Result = g.More
	if r.Ended == EndUndoing {
		r.Ended, changed = EndNone, true
	}
	if g.Memory != nil {
		scope.Memory = g.Memory
		changed = changed || scope.Parent != nil
	}
	if g.Outer != nil && scope.Parent != nil {
		s.root.Memory = g.Outer
		s.emit(Command{Op: Remember, Atom: -1, Detail: &Detail{Memory: g.Outer}})
	}
	if scope.Parent == nil && (g.Memory != nil || q.cause.Kind == flow.Begin) {
		s.emit(Command{Op: Remember, Atom: -1, Detail: &Detail{Memory: scope.Memory}})
	}
	switch {
	case q.cause.Kind == flow.Begin && scope.Parent != nil:
		scope.begun = true
		s.setScope(scope, states.TaskRunning)
		return
	case q.cause.Kind == flow.Begin:
		scope.begun = true
		if !g.Deadline.IsZero() {
			r.setRare(func(x *Rare) { x.Due = g.Deadline })
			s.emit(Command{Op: Deadline, Atom: -1, Detail: &Detail{Due: g.Deadline}})
			changed = true
		}
	case q.cause.Kind == flow.Overdue && (g.End == nil || !g.End.TimedOut):
		r.clearDue()
		changed = true
	}
	if changed {
		s.keep(scope)
	}
}

// add makes a node and starts it.
func (s *Scheduler) add(scope *Scope, spec flow.Spec) {
	path := scope.Inside(spec.Name)
	if scope.ending != nil {
		return
	}
	if _, taken := scope.open[spec.Name]; taken {
		s.endScope(scope, impossible(path, "added two nodes of one name"))
		return
	}
	s.growth.serial++
	s.growth.alive++
	n := &Node{Scope: scope, Path: path, Spec: spec, Kept: true, serial: s.growth.serial, failedAt: -1}
	if scope.open == nil {
		scope.open = map[string]*Node{}
	}
	scope.open[spec.Name] = n
	if s.flow != states.FlowRunning || scope.stopping {
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
		return
	}
	s.startNode(n)
}
