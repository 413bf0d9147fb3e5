package scheduler

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A Scope is a growing flow: the run's own, or a child of a fork.
type Scope struct {
	// Its record is PENDING until its Begin is answered. While it is RUNNING, its result is the note of an answer that
	// asked for more, and an end mark means that the scope is ending. The unit of the run's own flow is that of its atom
	// in the plan. The due time of that flow is its deadline.
	*Unit

	Path   string // "" for the run's own flow
	Parent *Node  // the fork whose child it is; nil for the run's own flow
	Index  int    // index among the children of the fork; -1 for the run's own flow
	Memory atom.Value

	begun   bool
	listens bool // it may have no open node, because it waits for a message
	open    map[string]*Node
	ending  *grow.End // how it ends, when no node in it is open
	// outside is Overdue or Stopped: a cause outside ends the scope. Its language is told when no node in it is
	// open.
	outside  grow.CauseKind
	stopping bool     // its open nodes are being cancelled
	undoing  *undoing // what to undo before any other question is asked; nil if nothing
	held     []ask    // questions that wait for that
	left     *left    // what was open, if the scope ends without success
	closed   bool
	weight   int64 // size of its values in bytes when weigh last counted them
	spared   int   // number of open nodes that are cancelled when the language has answered
}

// Inside returns the path of a node of the scope.
func (s *Scope) Inside(name string) string {
	if s.Path == "" {
		return name
	}
	return s.Path + "/" + name
}

// ownScope returns the run's own flow.
func (s *Scheduler) ownScope() *Scope { return &Scope{Unit: &s.units[0], Index: -1} }

// childOf returns a child of a fork.
func childOf(fork *Node, index int, path string) *Scope {
	c := &Scope{Unit: &Unit{Path: path, Index: -1}, Path: path, Parent: fork, Index: index}
	c.Child = c
	return c
}

// endScope ends a scope when no node in it executes.
func (s *Scheduler) endScope(scope *Scope, end *grow.End) {
	s.listen(scope, false)
	scope.ending = end
	s.stop(scope)
	if scope.closed {
		return
	}
	r := &scope.Rec
	r.Ended, r.Result, r.Failure = grow.EndValue, end.Value, end.Failure
	switch {
	case end.Successor != nil:
		r.Ended, r.Result = grow.EndContinued, atom.MustEncode(end.Successor)
	case end.Failure != nil:
		r.Ended = grow.EndFailure
		if scope.left == nil {
			scope.left = &left{}
		}
		scope.left.EndNote = end.Note
		r.Result = atom.MustEncode(scope.left)
	case scope.Parent != nil:
		scope.Memory = end.Note // it needs its memory for nothing else
	}
	s.write(scope.Unit)
}

// loadedEnd returns how a scope ends, from its record and memory; nil if it is not ending.
func loadedEnd(r *Record, memory atom.Value) *grow.End {
	switch r.Ended {
	case grow.EndValue:
		return &grow.End{Value: r.Result, Note: memory}
	case grow.EndContinued:
		end := &grow.End{Successor: &grow.Child{}}
		if err := r.Result.Decode(end.Successor); err != nil {
			end.Failure = &atom.Failure{
				Code: atom.CodeLanguage, Message: "the record of the successor is damaged: " + err.Error(),
			}
		}
		return end
	case grow.EndFailure:
		end := &grow.End{Failure: r.Failure, Note: memory} // as earlier versions stored it
		if l := leftIn(r); l != nil {
			end.Note = l.EndNote
		}
		return end
	default:
		return nil
	}
}

// Closed reports whether the scope has ended. The fork whose child it is may still need its result.
func (s *Scope) Closed() bool { return s.closed }

func (s *Scheduler) setScope(scope *Scope, to states.Task) {
	from := scope.Rec.State
	if err := states.Check(from, to); err != nil {
		panic(fmt.Errorf("scheduler: flow %q: %w", scope.Path, err))
	}
	scope.Rec.State = to
	s.emit(Command{Op: Notify, Unit: scope.Unit, From: from, To: to, Rec: scope.Rec})
}

// markStopping marks a scope, and all scopes within it, as being cancelled.
func (s *Scope) markStopping() {
	if s.stopping {
		return
	}
	s.stopping = true
	for _, n := range s.open {
		for _, c := range n.children {
			c.markStopping()
		}
	}
}

// stopNode cancels an open node.
func (s *Scheduler) stopNode(n *Node) {
	n.stopped = true
	s.unwaitNode(n)
	switch {
	case n.executing && n.Scope.abandoned():
		n.executing = false
		n.takeBack()
		s.inFlight.busy--
		s.emit(Command{Op: Cancel, Unit: &n.Unit, Abandoned: true})
		s.cancelled(n)
	case n.executing:
		s.emit(Command{Op: Cancel, Unit: &n.Unit})
	case len(n.children) > 0:
		for _, c := range slices.Clone(n.children) {
			s.stop(c)
		}
	case n.mayEnd() || n.Awaits() && n.queue == workQueue && n.Rec.NoneBegunBefore() && n.Spec.Undo != nil:
		s.withdraw(&n.Unit)
	case n.Rec.State == states.TaskRunning && n.called() && n.Spec.Token != "":
		n.Rec.Ended = grow.EndDeferred // its call was interrupted, but another party may have ended the attempt
		s.waitExternal(&n.Unit)
		s.withdraw(&n.Unit)
	default:
		// Its end was accepted, and its language was not told.
		n.accepted = n.byToken && (n.Rec.Ended == grow.EndValue || n.Rec.Ended == grow.EndFailure)
		s.voidNode(n)
	}
}

// voidNode cancels a node that makes no call, and makes its token void.
func (s *Scheduler) voidNode(n *Node) {
	if n.Awaits() {
		s.unwaitExternal(&n.Unit)
		n.Rec.Result = nil
		s.emit(Command{Op: Void, Unit: &n.Unit})
	}
	s.cancelled(n)
}

// cancelled removes a node that has ended after its cancellation from its scope.
func (s *Scheduler) cancelled(n *Node) {
	s.retire(n) // first, so that the undo entry is stored together with the state
	switch n.Rec.State {
	case states.TaskRunning, states.TaskPending, states.TaskRetrying:
		s.setNode(n, states.TaskCancelled)
	default:
	}
}

// abandoned reports whether running calls in a scope are not awaited when the scope is cancelled, because a group
// around it says so.
func (s *Scope) abandoned() bool {
	for fork := s.Parent; fork != nil; fork = fork.Scope.Parent {
		if fork.decided && fork.Spec.Group.Abandon {
			return true
		}
	}
	return false
}

// settleScope ends a scope in which no node is open.
func (s *Scheduler) settleScope(scope *Scope) {
	if scope.closed || len(scope.open) > scope.spared || scope.undoing != nil || scope.ending == nil && !scope.stopping {
		return
	}
	if scope.outside != grow.Begin && scope.ending == nil {
		cause := grow.Cause{
			Kind: scope.outside, Failure: s.stopReason.pendingFailure, Abandoned: s.stopReason.halted,
		}
		if scope.outside == grow.Overdue {
			cause.Failure = &atom.Failure{Code: atom.CodeTimeout}
			scope.stopping = false
		}
		scope.aborted().tell(&cause)
		s.queueAsk(scope, nil, cause)
		return
	}
	scope.closed = true
	if scope.Parent == nil {
		s.rootEnded(scope.ending)
		return
	}
	fork := scope.Parent
	fork.lose(scope)
	fork.abort(scope)
	s.growth.alive--
	switch end := scope.ending; {
	case end == nil:
		s.setScope(scope, states.TaskCancelled)
	case end.Failure != nil:
		scope.left.EndNote = end.Note
		scope.Rec.Failure, scope.Rec.Result, scope.Rec.Ended = end.Failure, atom.MustEncode(scope.left), grow.EndFailure
		s.noteEnd(fork, end)
		s.setScope(scope, states.TaskFailure)
		fork.tell(scope)
		s.decide(fork)
	default:
		scope.Rec.Result, scope.Rec.Ended = end.Value, grow.EndValue
		s.noteEnd(fork, end)
		s.setScope(scope, states.TaskSuccess)
		fork.tell(scope)
		s.decide(fork)
	}
	fork.weigh(s)
	s.joinFork(fork)
}

// lose removes a child from the open children. Usually it is the oldest, which costs the same for any number of
// children.
func (n *Node) lose(child *Scope) {
	switch i := slices.Index(n.children, child); {
	case i == 0:
		n.children[0] = nil
		n.children = n.children[1:]
	case i > 0:
		n.children = slices.Delete(n.children, i, i+1)
	}
}

// rootEnded ends the atom that stands for the growing flow in its plan.
func (s *Scheduler) rootEnded(end *grow.End) {
	s.inFlight.busy++ // completed decrements it
	ev := Event{Unit: s.root.Unit, Result: end.Value, Failure: end.Failure}
	if end.Successor != nil {
		ev.Result, ev.continued = atom.MustEncode(end.Successor), true
	}
	s.completed(ev)
}
