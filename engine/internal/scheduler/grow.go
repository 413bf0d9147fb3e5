package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// A Scope is a growing flow: the run's own, or a child of a fork.
type Scope struct {
	Path   string // "" is the run's own
	Parent *Node  // the fork it is a child of; nil for the run's own
	Index  int    // among the children of the fork; -1 for the run's own
	Memory atom.Value
	Rec    Record // PENDING until its Begin is answered; not used for the run's own

	begun    bool
	open     map[string]*Node
	ending   *flow.End // it is over once nothing in it is open
	overdue  bool      // its deadline has passed; its language is told once nothing in it is open
	stopping bool      // what is open in it is being cancelled
	closed   bool
	aborted  []string
}

// A Node is a grown node: a task, a timer or a fork.
type Node struct {
	Scope  *Scope
	Path   string
	Spec   flow.Spec
	Rec    Record
	Kept   bool // its record is needed to go on
	serial int64

	executing bool
	waiting   bool
	stopped   bool // cancelled; its end is still awaited

	children []*Scope // of a fork: those begun and not closed
	begun    int      // of a fork: how many children were made
	results  []atom.Value
	done     int
	failedAt int // which child failed first; -1 when none did
	failure  *atom.Failure
}

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

func (s *Scheduler) takeUpNode(n *Node) {
	s.unwaitNode(n) // it may have waited since before the run was suspended
	switch r := &n.Rec; {
	case r.State == states.TaskPending:
		s.startNode(n)
	case r.State == states.TaskSuccess || r.State == states.TaskFailure:
		s.nodeEnded(n) // it ended, and what that means was not recorded yet
	case r.State == states.TaskRetrying || n.Spec.Kind == flow.Timer:
		s.waitNode(n)
	case n.Spec.Kind == flow.Fork:
		for _, c := range slices.Clone(n.children) {
			if n.failedAt >= 0 {
				s.stop(c)
			} else {
				s.takeUp(c)
			}
		}
		s.fillFork(n)
		s.joinFork(n)
	case !n.executing:
		s.executeNode(n)
	}
}

func sorted(open map[string]*Node) []*Node {
	return slices.SortedFunc(maps.Values(open), func(a, b *Node) int { return cmp.Compare(a.serial, b.serial) })
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

// record returns what is persisted of a scope: of the run's own flow it is the
// record of the atom that stands for it in the plan. While a scope is RUNNING
// its result is the note of an answer that asked for more, an end mark says that
// it is ending, and the due time of the run's own is its deadline.
func (s *Scheduler) record(scope *Scope) *Record {
	if scope.Parent == nil {
		return &s.rec[0]
	}
	return &scope.Rec
}

// keep writes a scope's record.
func (s *Scheduler) keep(scope *Scope) {
	if scope.Parent == nil {
		s.emit(Command{Op: Write, Atom: 0, Rec: s.rec[0]})
	} else {
		s.emit(Command{Op: Write, Atom: -1, Scope: scope, Rec: scope.Rec})
	}
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

// endScope ends a scope as soon as nothing in it executes.
func (s *Scheduler) endScope(scope *Scope, end *flow.End) {
	scope.ending = end
	s.stop(scope)
	if scope.closed {
		return
	}
	r := s.record(scope)
	r.Ended, r.Result, r.Failure = EndValue, end.Value, end.Failure
	if end.Failure != nil {
		r.Ended = EndFailure
	}
	if scope.Parent != nil {
		scope.Memory = end.Note // it has no other use for its memory
	}
	s.keep(scope)
}

// loadedEnd returns how a scope ends, by its record; nil when it does not.
func loadedEnd(r *Record, note atom.Value) *flow.End {
	switch r.Ended {
	case EndValue:
		return &flow.End{Value: r.Result, Note: note}
	case EndFailure:
		return &flow.End{Failure: r.Failure, TimedOut: !r.Due().IsZero(), Note: note}
	default:
		return nil
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

func (s *Scheduler) startNode(n *Node) {
	if n.Spec.Kind != flow.Timer && n.Rec.State == states.TaskPending && n.Spec.Due.After(s.now) { // not before
		n.Rec.setRare(func(x *Rare) { x.Due = n.Spec.Due })
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
		s.waitNode(n)
		return
	}
	switch n.Spec.Kind {
	case flow.Work:
		s.executeNode(n)
	case flow.Timer:
		n.Rec.Attempt++
		n.Rec.setRare(func(x *Rare) { x.Due = n.Spec.Due })
		s.setNode(n, states.TaskRunning)
		s.waitNode(n)
	case flow.Fork:
		n.Rec.Attempt++
		n.Rec.Ended, n.Rec.Result = EndNone, nil
		n.Rec.clearDue()
		n.begun, n.done, n.failedAt, n.failure = 0, 0, -1, nil
		n.results = make([]atom.Value, n.Spec.Group.Count)
		s.setNode(n, states.TaskRunning)
		s.fillFork(n)
		s.joinFork(n)
	}
}

func (s *Scheduler) executeNode(n *Node) {
	n.Rec.Attempt++
	n.Rec.Ended = EndNone
	n.Rec.clearDue()
	if n.Rec.State == states.TaskRunning {
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
	} else {
		s.setNode(n, states.TaskRunning)
	}
	s.busy++
	n.executing = true
	s.emit(Command{Op: Execute, Atom: -1, Node: n, Rec: n.Rec, Values: atom.Single(n.Spec.Input)})
}

func (s *Scheduler) waitNode(n *Node) {
	s.waits++
	n.waiting = true
	s.emit(Command{Op: Wait, Atom: -1, Node: n, Due: n.Rec.Due()})
}

func (s *Scheduler) unwaitNode(n *Node) {
	if n.waiting {
		s.waits--
		n.waiting = false
		s.emit(Command{Op: Unwait, Atom: -1, Node: n})
	}
}

// Closed reports whether nothing more happens in the scope. The fork it is a
// child of may still need its result.
func (s *Scope) Closed() bool { return s.closed }

// setNode changes a node's state, as the tables allow.
func (s *Scheduler) setNode(n *Node, to states.Task) {
	from := n.Rec.State
	if err := states.Check(from, to); err != nil {
		panic(fmt.Errorf("scheduler: node %q: %w", n.Path, err))
	}
	n.Rec.State = to
	s.emit(Command{Op: Notify, Atom: -1, Node: n, From: from, To: to, Rec: n.Rec})
}

func (s *Scheduler) setScope(scope *Scope, to states.Task) {
	from := scope.Rec.State
	if from == to {
		s.emit(Command{Op: Write, Atom: -1, Scope: scope, Rec: scope.Rec})
		return
	}
	if err := states.Check(from, to); err != nil {
		panic(fmt.Errorf("scheduler: flow %q: %w", scope.Path, err))
	}
	scope.Rec.State = to
	s.emit(Command{Op: Notify, Atom: -1, Scope: scope, From: from, To: to, Rec: scope.Rec})
}

// nodeFired ends the wait of a timer, or of a task for its next attempt.
func (s *Scheduler) nodeFired(n *Node) {
	if !n.waiting {
		return
	}
	n.waiting = false
	s.waits--
	if n.Spec.Kind != flow.Timer {
		if s.flow == states.FlowRunning {
			s.tryAgain(n)
		}
		return
	}
	n.Rec.Result, n.Rec.Ended = atom.Null, EndValue
	s.setNode(n, states.TaskSuccess)
	s.nodeEnded(n)
}

// nodeCompleted takes the end of a node's execution or revert.
func (s *Scheduler) nodeCompleted(ev Event) {
	n := ev.Node
	n.executing = false
	if ev.Revert {
		s.nodeReverted(n, ev)
		return
	}
	to := states.TaskSuccess
	switch {
	case ev.Failure == nil:
		n.Rec.Result, n.Rec.Ended, n.Rec.Failure = ev.Result, EndValue, nil
	case n.stopped:
		n.Rec.Failure, n.Rec.Result, n.Rec.Ended = ev.Failure, nil, EndNone
		to = states.TaskCancelled
	default:
		n.Rec.Failure, n.Rec.Result, n.Rec.Ended = ev.Failure, nil, EndFailure
		to = states.TaskFailure
	}
	if n.stopped {
		s.retire(n)
		s.setNode(n, to)
		s.settleScope(n.Scope)
		return
	}
	s.setNode(n, to)
	s.nodeEnded(n)
}

// nodeEnded asks the language what the end of a node means.
func (s *Scheduler) nodeEnded(n *Node) {
	cause := flow.Cause{
		Name: n.Spec.Name, Note: n.Spec.Note, Attempt: int(n.Rec.Attempt),
		Result: n.Rec.Result, Failure: n.Rec.Failure,
	}
	isFork, ended := n.Spec.Kind == flow.Fork, n.Rec.State == states.TaskSuccess
	switch {
	case isFork && ended:
		cause.Kind, cause.Results, cause.Result, cause.EndNote = flow.Joined, n.results, nil, n.Rec.Result
	case isFork:
		cause.Kind, cause.Index, cause.Aborted = flow.JoinFailed, n.failedAt, n.Scope.aborted
		cause.Result, cause.EndNote = nil, n.Rec.Result
		n.Scope.aborted = nil
	case ended:
		cause.Kind = flow.Ended
	default:
		cause.Kind = flow.Failed
	}
	s.wonder(n.Scope, n, cause)
}

// again lets a node that failed be tried once more.
func (s *Scheduler) again(n *Node, again *flow.Again) {
	if again.Note != nil {
		n.Spec.Note = again.Note
	}
	switch {
	case again.Input == nil:
	case n.Spec.Kind == flow.Fork:
		group := *n.Spec.Group // the language may hold on to its own
		group.Shared = again.Input
		n.Spec.Group = &group
	default:
		n.Spec.Input = again.Input
	}
	if again.After > 0 {
		n.Rec.setRare(func(x *Rare) { x.Due = s.now.Add(again.After) })
	}
	s.setNode(n, states.TaskRetrying)
	switch {
	case again.After > 0:
		s.waitNode(n)
	case s.flow == states.FlowRunning:
		s.tryAgain(n)
	}
}

func (s *Scheduler) tryAgain(n *Node) {
	if n.Spec.Kind == flow.Fork {
		s.startNode(n)
	} else {
		s.executeNode(n)
	}
}

// retire takes a node that ended out of its scope. What it did, or may have
// done, goes on the undo stack if it can be undone.
func (s *Scheduler) retire(n *Node) {
	delete(n.Scope.open, n.Spec.Name)
	n.Kept = false
	if n.Rec.Ended == EndFailure {
		n.Rec.Ended = EndHandled
	}
	s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
	if n.Spec.Undo != nil && n.Rec.Attempt > 0 {
		s.undos++
		s.emit(Command{Op: PushUndo, Atom: -1, Node: n})
	}
}

// fillFork begins children as slots are free.
func (s *Scheduler) fillFork(n *Node) {
	g := n.Spec.Group
	for n.begun < g.Count && n.failedAt < 0 && (g.Slots == 0 || len(n.children) < g.Slots) && !n.stopped {
		c := &Scope{Path: n.childPath(n.begun), Parent: n, Index: n.begun}
		n.begun++
		n.children = append(n.children, c)
		s.emit(Command{Op: Write, Atom: -1, Scope: c, Rec: c.Rec})
		if s.flow == states.FlowRunning {
			s.wonder(c, nil, flow.Cause{Kind: flow.Begin})
		}
	}
}

// childPath names a fork's child. Children of a further attempt are others than
// those of the one before.
func (n *Node) childPath(i int) string { return ChildPath(n.Path, int(n.Rec.Attempt), i) }

// ChildPath returns the path of the child of a fork that the given attempt made.
func ChildPath(fork string, attempt, i int) string {
	if attempt > 1 {
		fork += "@" + strconv.Itoa(attempt)
	}
	return fork + "[" + strconv.Itoa(i) + "]"
}

// stop cancels what is open in a scope; the scope settles when all of it has
// ended.
func (s *Scheduler) stop(scope *Scope) {
	if scope.closed {
		return
	}
	scope.stopping = true
	for _, n := range sorted(scope.open) {
		if n.stopped {
			continue
		}
		n.stopped = true
		s.noteAborted(n)
		s.unwaitNode(n)
		switch {
		case n.executing:
			s.emit(Command{Op: Cancel, Atom: -1, Node: n})
		case len(n.children) > 0:
			for _, c := range slices.Clone(n.children) {
				s.stop(c)
			}
		default:
			s.retire(n) // first, so that it is kept together with the state
			if n.Rec.State == states.TaskRunning || n.Rec.State == states.TaskPending || n.Rec.State == states.TaskRetrying {
				s.setNode(n, states.TaskCancelled)
			}
		}
	}
	s.settleScope(scope)
}

// noteAborted remembers, for the language that will be told of the failure, what
// was open: with the outermost scope that is being ended.
func (s *Scheduler) noteAborted(n *Node) {
	to := n.Scope
	for to.Parent != nil && to.ending == nil && !to.overdue {
		to = to.Parent.Scope
	}
	to.aborted = append(to.aborted, n.Path)
}

// settleScope ends a scope that nothing is open in any more.
func (s *Scheduler) settleScope(scope *Scope) {
	if scope.closed || len(scope.open) > 0 || scope.ending == nil && !scope.stopping {
		return
	}
	if scope.overdue && scope.ending == nil {
		cause := flow.Cause{Kind: flow.Overdue, Aborted: scope.aborted, Failure: &atom.Failure{Code: atom.CodeTimeout}}
		scope.aborted = nil
		scope.stopping = false
		s.wonder(scope, nil, cause)
		return
	}
	scope.closed = true
	if scope.Parent == nil {
		s.rootEnded(scope.ending)
		return
	}
	fork := scope.Parent
	fork.children = slices.DeleteFunc(fork.children, func(c *Scope) bool { return c == scope })
	switch end := scope.ending; {
	case end == nil:
		s.setScope(scope, states.TaskCancelled)
	case end.Failure != nil:
		scope.Rec.Failure, scope.Rec.Result, scope.Rec.Ended = end.Failure, nil, EndFailure
		s.noteEnd(fork, end)
		s.setScope(scope, states.TaskFailure)
		s.childFailed(fork, scope)
	default:
		scope.Rec.Result, scope.Rec.Ended = end.Value, EndValue
		s.noteEnd(fork, end)
		s.setScope(scope, states.TaskSuccess)
		fork.results[scope.Index] = end.Value
		fork.done++
		s.fillFork(fork)
	}
	s.joinFork(fork)
}

// noteEnd keeps, as the result of a fork that has not ended, what the child that
// decided its end, or ended last, wants its language to be told.
func (s *Scheduler) noteEnd(fork *Node, end *flow.End) {
	if fork.failedAt >= 0 || string(fork.Rec.Result) == string(end.Note) {
		return
	}
	fork.Rec.Result = end.Note
	s.emit(Command{Op: Write, Atom: -1, Node: fork, Rec: fork.Rec})
}

// childFailed ends the siblings of the first child that failed.
func (s *Scheduler) childFailed(fork *Node, child *Scope) {
	if fork.failedAt >= 0 || fork.stopped {
		return
	}
	fork.failedAt, fork.failure = child.Index, child.Rec.Failure
	for _, c := range slices.Clone(fork.children) {
		s.stop(c)
	}
}

// joinFork ends a fork whose children have all ended.
func (s *Scheduler) joinFork(n *Node) {
	if n.Rec.State != states.TaskRunning || len(n.children) > 0 {
		return
	}
	switch {
	case n.stopped:
		s.retire(n)
		s.setNode(n, states.TaskCancelled)
		s.settleScope(n.Scope)
	case n.failedAt >= 0:
		n.Rec.Failure, n.Rec.Ended = n.failure, EndFailure
		s.setNode(n, states.TaskFailure)
		s.nodeEnded(n)
	case n.done == n.Spec.Group.Count:
		n.Rec.Ended = EndValue
		s.setNode(n, states.TaskSuccess)
		s.nodeEnded(n)
	}
}

// overdue ends what the run's own flow still does.
func (s *Scheduler) overdue() {
	if s.root == nil || s.root.closed || s.root.overdue {
		return
	}
	s.root.overdue = true
	s.stop(s.root)
}

// rootEnded ends the atom that stands for the growing flow in its plan.
func (s *Scheduler) rootEnded(end *flow.End) {
	s.busy++ // completed counts it down
	s.completed(Event{Atom: 0, Result: end.Value, Failure: end.Failure})
}
