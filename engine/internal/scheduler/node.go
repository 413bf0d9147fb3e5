package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A Node is a grown node: a task, a timer or a fork.
type Node struct {
	Unit

	Scope  *Scope
	Spec   grow.Spec
	Kept   bool // the run needs its record to continue
	serial int64

	waiting bool
	stopped bool // cancelled; its end has not come yet
	spared  bool // stopped, but cancelled only when its language has answered
	byToken bool // the owner of its token ended it, not its child run
	// accepted is set if it was stopped, but had ended before: see [aborted].
	accepted bool

	entry undoEntry // on the undo stack, if it is undone for a flow

	children []*Scope // of a fork: children that have started and are not closed
	begun    int      // of a fork: number of children created
	upTo     int      // of a fork: number of children created or about to be created
	joined   int64    // of a fork: size of results in bytes
	weight   int64    // size of its values in bytes when weigh last counted them
	results  []atom.Value
	done     int
	failures int            // of a fork: number of children that failed
	decided  bool           // of a fork: its end is decided, and the other children are being ended
	aborts   []abortedChild // of a fork: its children that were ended
	failedAt int            // index of the child that made it fail; -1 if none did
	failure  *atom.Failure
}

// An undoEntry is the place of a node on the undo stack.
type undoEntry struct {
	height int64
	drops  int // value of undoStack.drops when the undoing of the node started
}

// nodeOf returns a node with its record.
func nodeOf(scope *Scope, path string, spec *grow.Spec, rec *Record) *Node {
	n := &Node{Unit: Unit{Path: path, Rec: *rec, Index: -1}, Scope: scope, Spec: *spec, failedAt: -1}
	n.Node = n
	return n
}

func (s *Scheduler) takeUpNode(n *Node) {
	switch r := &n.Rec; {
	case n.dropped():
		s.stopNode(n)
		s.growth.asks = append(s.growth.asks, ask{scope: n.Scope, left: true})
	case n.waiting: // an end that was accepted before the run was loaded has led to it
	case r.Ended == grow.EndReopened:
		s.askReopenedNode(n)
	case r.State == states.TaskPending:
		s.startNode(n)
	case r.State == states.TaskSuccess || r.State == states.TaskFailure:
		s.nodeEnded(n) // the node has ended, and the language's answer was not stored
	case r.State == states.TaskRetrying || n.Spec.Kind == grow.Timer:
		s.waitNode(n)
	case n.Spec.Kind == grow.Fork:
		for _, c := range slices.Clone(n.children) {
			if n.decided {
				s.stop(c)
			} else {
				s.takeUp(c)
			}
		}
		s.fillFork(n)
		s.joinFork(n)
	case n.Awaits():
		s.waitExternal(&n.Unit)
		s.reportCall(n)
	case !n.executing:
		s.executeNode(n)
	}
}

func sorted(open map[string]*Node) []*Node {
	return slices.SortedFunc(maps.Values(open), func(a, b *Node) int { return cmp.Compare(a.serial, b.serial) })
}

func (s *Scheduler) startNode(n *Node) {
	// Its start time has not come.
	if n.Spec.Kind != grow.Timer && n.Rec.State == states.TaskPending && n.Spec.Due.After(s.now) {
		n.Rec.setExtra(func(x *RecordExtra) { x.Due = n.Spec.Due })
		s.write(&n.Unit)
		s.waitNode(n)
		return
	}
	switch n.Spec.Kind {
	case grow.Work:
		s.executeNode(n)
	case grow.Nested:
		s.awaitNode(n)
	case grow.Timer:
		n.Rec.Attempt++
		n.Rec.setExtra(func(x *RecordExtra) { x.Due = n.Spec.Due })
		s.setNode(n, states.TaskRunning)
		s.waitNode(n)
	case grow.Fork:
		n.Rec.Attempt++
		n.Rec.Ended, n.Rec.Result = grow.EndNone, nil
		n.Rec.clearDue()
		n.joined = 0
		n.begun, n.upTo, n.done, n.failures, n.failedAt, n.failure, n.decided = 0, 0, 0, 0, -1, nil, false
		n.aborts = nil
		n.results = make([]atom.Value, n.Spec.Group.Count)
		s.setNode(n, states.TaskRunning)
		s.fillFork(n)
		s.joinFork(n)
	}
}

func (s *Scheduler) executeNode(n *Node) {
	if !n.called() {
		s.awaitNode(n)
		return
	}
	if n.Rec.State == states.TaskRunning { // the process died during this attempt: repeat the attempt
		s.write(&n.Unit)
	} else {
		n.queue = n.Rec.nextIn()
		n.Rec.Attempt++
		n.Rec.Ended = grow.EndNone
		n.Rec.clearDue()
		s.setNode(n, states.TaskRunning)
	}
	s.makeCall(&n.Unit)
	s.emit(Command{Op: Execute, Unit: &n.Unit, Rec: n.Rec, Values: atom.Single(n.Spec.Input)})
}

func (s *Scheduler) waitNode(n *Node) {
	s.inFlight.waits++
	n.waiting = true
	s.emit(Command{Op: Wait, Unit: &n.Unit, Detail: &Detail{Due: n.Rec.Due()}})
}

func (s *Scheduler) unwaitNode(n *Node) {
	if n.waiting {
		s.inFlight.waits--
		n.waiting = false
		s.emit(Command{Op: Unwait, Unit: &n.Unit})
	}
}

// setNode changes a node's state and panics if the tables do not allow the change.
func (s *Scheduler) setNode(n *Node, to states.Task) {
	from := n.Rec.State
	if err := states.Check(from, to); err != nil {
		panic(fmt.Errorf("scheduler: node %q: %w", n.Path, err))
	}
	n.Rec.State = to
	s.emit(Command{Op: Notify, Unit: &n.Unit, From: from, To: to, Rec: n.Rec})
}

// nodeFired ends the wait of a timer, or of a task for its next attempt.
func (s *Scheduler) nodeFired(n *Node) {
	if !n.waiting {
		return
	}
	n.waiting = false
	s.inFlight.waits--
	if n.Rec.State == states.TaskReverting {
		s.revertNode(n)
		return
	}
	if n.Spec.Kind != grow.Timer {
		if s.flow == states.FlowRunning && !n.Scope.stopping {
			s.tryAgain(n)
		}
		return
	}
	n.Rec.Result, n.Rec.Ended = atom.Null, grow.EndValue
	s.setNode(n, states.TaskSuccess)
	s.nodeEnded(n)
}

// nodeCompleted handles the end of a node's execution or revert.
func (s *Scheduler) nodeCompleted(n *Node, ev Event) {
	n.byToken = ev.ByToken
	if ev.Revert {
		s.nodeReverted(n, ev)
		return
	}
	accepted := ev.ByToken || ev.Own
	to := states.TaskSuccess
	n.Rec.RunEnd = ev.RunEnd
	if ev.Failure != nil {
		ev.Failure = n.Rec.ofExecution(ev.Failure)
	}
	switch {
	case ev.Failure == nil:
		n.Rec.Result, n.Rec.Ended, n.Rec.Failure = ev.Result, grow.EndValue, nil
	case n.stopped && !accepted: // the call may have failed because it was cancelled
		n.Rec.Failure, n.Rec.Result, n.Rec.Ended = ev.Failure, nil, grow.EndNone
		to = states.TaskCancelled
		n.takeBack()
	default:
		n.Rec.Failure, n.Rec.Result, n.Rec.Ended = ev.Failure, nil, grow.EndFailure
		to = states.TaskFailure
	}
	if n.stopped {
		n.accepted = accepted
		s.retire(n)
		s.setNode(n, to)
		s.left(n.Scope)
		return
	}
	s.setNode(n, to)
	s.nodeEnded(n)
}

// nodeEnded asks the language about the end of a node.
func (s *Scheduler) nodeEnded(n *Node) {
	cause := grow.Cause{
		Name: n.Spec.Name, Note: n.Spec.Note, Attempt: int(n.Rec.Attempt),
		Result: n.Rec.Result, Failure: n.Rec.Failure, Run: n.BeginsRun() && !n.byToken,
	}
	if cause.Run {
		cause.End = n.Rec.RunEnd
	}
	isFork, ended := n.Spec.Kind == grow.Fork, n.Rec.State == states.TaskSuccess
	switch {
	case isFork && ended:
		cause.Kind, cause.Results, cause.Result, cause.EndNote = grow.Joined, n.results, nil, n.Rec.Result
	case isFork:
		cause.Kind, cause.Index, cause.Result, cause.EndNote = grow.JoinFailed, n.failedAt, nil, n.Rec.Result
		n.aborted().tell(&cause)
	case ended:
		cause.Kind = grow.Ended
	default:
		cause.Kind = grow.Failed
	}
	s.queueAsk(n.Scope, n, cause)
}

// change gives a node what its next attempt has of its own.
func (n *Node) change(again *grow.Again) {
	if n.Spec.Kind == grow.Work || n.Spec.Kind == grow.Nested {
		n.Spec.Token = again.Token
	}
	if again.Child != nil && n.Spec.Kind == grow.Nested {
		n.Spec.Child = again.Child
	}
	if again.Note != nil {
		n.Spec.Note = again.Note
	}
	switch {
	case again.Input == nil:
	case n.Spec.Kind == grow.Fork:
		group := *n.Spec.Group // a copy, because the language may keep its own
		group.Shared = again.Input
		n.Spec.Group = &group
	default:
		n.Spec.Input = again.Input
	}
}

// again lets a failed node run again.
func (s *Scheduler) again(n *Node, again *grow.Again) {
	n.change(again)
	if again.After > 0 {
		n.Rec.setExtra(func(x *RecordExtra) { x.Due = s.now.Add(again.After) })
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
	if n.Spec.Kind == grow.Fork {
		s.startNode(n)
	} else {
		s.executeNode(n)
	}
}

// retire removes an ended node from its scope. If the node did something, or may have, and can be undone, it goes
// on the undo stack.
func (s *Scheduler) retire(n *Node) {
	delete(n.Scope.open, n.Spec.Name)
	if n.spared {
		n.spared = false
		n.Scope.spared--
	}
	if n.Kept {
		s.growth.alive--
	}
	n.Kept = false
	if n.stopped {
		s.endedWithScope(n)
	}
	if n.Rec.Ended == grow.EndFailure {
		n.Rec.Ended = grow.EndHandled
	}
	s.write(&n.Unit)
	if n.Spec.Pivot && n.Rec.State == states.TaskSuccess {
		s.undoStack.drops++
		s.undoStack.holes = nil
		s.undoStack.height = 1 // the pivot itself stays, so that undoing stops there
		s.emit(Command{Op: DropUndo})
		s.emit(Command{Op: PushUndo, Unit: &n.Unit})
	} else if n.Rec.leavesUndo(&n.Spec, n.Path) {
		s.undoStack.height++
		s.emit(Command{Op: PushUndo, Unit: &n.Unit})
	}
}

// leavesUndo reports whether a node that has ended goes on the undo stack.
func (r *Record) leavesUndo(spec *grow.Spec, path string) bool {
	return spec.Reverts() && r.Attempt > 0 && !r.untakenAt(path) ||
		spec.Undo != nil && r.mayHaveEffect(spec.Kind == grow.Nested)
}

// LeavesUndo reports whether a node of a growing flow goes on the undo stack, if it has ended.
func (l *Loaded) LeavesUndo() bool { return l.Spec != nil && l.Rec.leavesUndo(l.Spec, l.Path) }

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
		return n.Spec.Kind == grow.Timer
	default:
		return false
	}
}
