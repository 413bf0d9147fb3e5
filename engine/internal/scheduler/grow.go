package scheduler

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// ask is a question to a scope's language that has not been asked yet.
type ask struct {
	scope *Scope
	node  *Node // what the cause is about; nil for Begin, Overdue and Continue
	cause flow.Cause
}

func (s *Scheduler) wonder(scope *Scope, node *Node, cause flow.Cause) {
	s.asks = append(s.asks, ask{scope, node, cause})
}

// nextAsk puts the next question that still matters. It reports whether there
// was one, or anything else came of looking.
func (s *Scheduler) nextAsk() bool {
	for len(s.asks) > 0 {
		q := s.asks[0]
		s.asks = s.asks[1:]
		if q.scope.closed || q.scope.stopping && q.cause.Kind != flow.Overdue {
			continue
		}
		s.asking, s.asked = q, true
		s.emit(Command{Op: AskLanguage, Atom: -1, Scope: q.scope, Node: q.node, Cause: &q.cause})
		return true
	}
	s.asks = nil
	return false
}

// beginGrowing starts the run's own growing flow, or takes it up.
func (s *Scheduler) beginGrowing() {
	if due := s.rec[0].Due(); s.root.begun && !due.IsZero() {
		if !due.After(s.now) {
			s.overdue()
			return
		}
		s.emit(Command{Op: Deadline, Atom: -1, Due: due})
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
	if r := s.record(scope); r.Ended == EndNone && r.Result != nil {
		s.wonder(scope, nil, flow.Cause{Kind: flow.Continue, Note: r.Result})
	}
	for _, n := range sorted(scope.open) {
		s.takeUpNode(n)
	}
}

// grown does what a language answered.
func (s *Scheduler) grown(g flow.Growth) {
	q := s.asking
	s.asking = ask{}
	scope, node := q.scope, q.node
	if len(g.Events) > 0 {
		s.emit(Command{Op: Emit, Atom: -1, Scope: scope, Events: g.Events})
	}
	s.remember(&q, &g)
	switch {
	case node == nil:
	case g.Again != nil && node.Rec.State == states.TaskFailure:
		s.again(node, g.Again)
	default:
		s.retire(node)
	}
	for i := range g.Add {
		s.add(scope, g.Add[i])
	}
	switch {
	case scope.ending != nil: // what was added could not be
	case g.End != nil:
		s.endScope(scope, g.End)
	case g.More != nil:
		s.wonder(scope, nil, flow.Cause{Kind: flow.Continue, Note: g.More})
	case len(scope.open) == 0:
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
	if g.Memory != nil {
		scope.Memory = g.Memory
		changed = changed || scope.Parent != nil
	}
	if scope.Parent == nil && (g.Memory != nil || q.cause.Kind == flow.Begin) {
		s.emit(Command{Op: Remember, Atom: -1, Memory: scope.Memory})
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
			s.emit(Command{Op: Deadline, Atom: -1, Due: g.Deadline})
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
	path := spec.Name
	if scope.Path != "" {
		path = scope.Path + "/" + spec.Name
	}
	if scope.ending != nil {
		return
	}
	if _, taken := scope.open[spec.Name]; taken {
		s.endScope(scope, impossible(path, "added two nodes of one name"))
		return
	}
	s.serial++
	n := &Node{Scope: scope, Path: path, Spec: spec, Kept: true, serial: s.serial, failedAt: -1}
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
