package scheduler

import (
	"fmt"
	"slices"

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
	listens  bool // nothing need be open in it: it waits to be told something
	open     map[string]*Node
	ending   *flow.End      // it is over once nothing in it is open
	outside  flow.CauseKind // Overdue or Stopped: it is ended from outside, and its language told once nothing in it is open
	stopping bool           // what is open in it is being cancelled
	undoing  *undoing       // what is to be undone before anything else is asked; nil when nothing is
	held     []ask          // until then
	closed   bool
	weight   int64 // bytes of values, as they were counted last
	aborted  []string
}

// Inside returns the path of a node of the scope.
func (s *Scope) Inside(name string) string {
	if s.Path == "" {
		return name
	}
	return s.Path + "/" + name
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

// endScope ends a scope as soon as nothing in it executes.
func (s *Scheduler) endScope(scope *Scope, end *flow.End) {
	s.listen(scope, false)
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
		return &flow.End{Failure: r.Failure, Note: note}
	default:
		return nil
	}
}

// Closed reports whether nothing more happens in the scope. The fork it is a
// child of may still need its result.
func (s *Scope) Closed() bool { return s.closed }

func (s *Scheduler) setScope(scope *Scope, to states.Task) {
	from := scope.Rec.State
	if err := states.Check(from, to); err != nil {
		panic(fmt.Errorf("scheduler: flow %q: %w", scope.Path, err))
	}
	scope.Rec.State = to
	s.emit(Command{Op: Notify, Atom: -1, Scope: scope, From: from, To: to, Rec: scope.Rec})
}

// markStopping marks a scope, and all within it, as being cancelled.
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
		s.flight.busy--
		s.emit(Command{Op: Cancel, Atom: -1, Node: n, Abandoned: true})
		s.cancelled(n)
	case n.executing:
		s.emit(Command{Op: Cancel, Atom: -1, Node: n})
	case len(n.children) > 0:
		for _, c := range slices.Clone(n.children) {
			s.stop(c)
		}
	default:
		if n.Awaits() {
			s.unwaitExternal(n)
			n.Rec.Result = nil
			s.emit(Command{Op: Void, Atom: -1, Node: n})
		}
		s.cancelled(n)
	}
}

// cancelled takes a node out of its scope that nothing more is to come of.
func (s *Scheduler) cancelled(n *Node) {
	s.retire(n) // first, so that it is kept together with the state
	switch n.Rec.State {
	case states.TaskRunning, states.TaskPending, states.TaskRetrying:
		s.setNode(n, states.TaskCancelled)
	default:
	}
}

// abandoned reports whether what executes in a scope is not waited for when it
// is cancelled, because a group around it says so.
func (s *Scope) abandoned() bool {
	for fork := s.Parent; fork != nil; fork = fork.Scope.Parent {
		if fork.decided && fork.Spec.Group.Abandon {
			return true
		}
	}
	return false
}

// noteAborted remembers, for the language that will be told of the failure, what
// was open: with the outermost scope that is being ended.
func (s *Scheduler) noteAborted(n *Node) {
	to := n.Scope
	for to.Parent != nil && to.ending == nil && to.outside == flow.Begin {
		to = to.Parent.Scope
	}
	to.aborted = append(to.aborted, n.Path)
}

// settleScope ends a scope that nothing is open in any more.
func (s *Scheduler) settleScope(scope *Scope) {
	if scope.closed || len(scope.open) > 0 || scope.undoing != nil || scope.ending == nil && !scope.stopping {
		return
	}
	if scope.outside != flow.Begin && scope.ending == nil {
		cause := flow.Cause{Kind: scope.outside, Aborted: scope.aborted, Failure: s.ending.pendingFailure}
		if scope.outside == flow.Overdue {
			cause.Failure = &atom.Failure{Code: atom.CodeTimeout}
			scope.stopping = false
		}
		scope.aborted = nil
		s.wonder(scope, nil, cause)
		return
	}
	scope.closed = true
	if scope.Parent == nil {
		s.rootEnded(scope.ending)
		return
	}
	fork := scope.Parent
	fork.lose(scope)
	s.growth.alive--
	switch end := scope.ending; {
	case end == nil:
		s.setScope(scope, states.TaskCancelled)
	case end.Failure != nil:
		scope.Rec.Failure, scope.Rec.Result, scope.Rec.Ended = end.Failure, nil, EndFailure
		s.noteEnd(fork, end)
		s.setScope(scope, states.TaskFailure)
		fork.tell(scope)
		s.decide(fork)
	default:
		scope.Rec.Result, scope.Rec.Ended = end.Value, EndValue
		s.noteEnd(fork, end)
		s.setScope(scope, states.TaskSuccess)
		fork.tell(scope)
		s.decide(fork)
	}
	fork.weigh(s)
	s.joinFork(fork)
}

// lose takes a child from those that are open. Mostly it is the oldest: that costs
// nothing, however many there are.
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
func (s *Scheduler) rootEnded(end *flow.End) {
	s.flight.busy++ // completed counts it down
	s.completed(Event{Atom: 0, Result: end.Value, Failure: end.Failure})
}
