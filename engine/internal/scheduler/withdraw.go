package scheduler

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// An attempt that another party ends is given up in two steps, since only the store knows whether that party was
// faster. First the scheduler asks the driver to withdraw the attempt: to close its token, and to read the inbox. An
// end that was accepted before counts. When the driver answers, the scheduler cancels the attempts that have not ended.
//
// If workers take the work of the attempt from a queue, and none has taken it, nothing was done: there is nothing to
// undo, and nothing stays done.
//
// If the attempt exceeds a limit before a worker has taken the work, the driver knows the answer, and its failure says
// so. Earlier attempts may have had an effect, so all this holds only if no worker took one of them.

// A queue says where the first attempt of an atom that is called waits to be begun.
type queue uint8

const (
	begunQueue queue = iota // in none: it was begun, or may have been
	callQueue               // in this process, which has not made the call yet
	workQueue               // in the store, where workers take it
)

// NoneBegunBefore reports whether no attempt before the latest one was begun.
func (r *Record) NoneBegunBefore() bool {
	return r.Attempt == 1 || r.Failure != nil && r.Failure.Untaken
}

// ofExecution returns the failure of an execution. It is not Untaken if an earlier attempt was begun.
func (r *Record) ofExecution(f *atom.Failure) *atom.Failure {
	if !f.Untaken || r.NoneBegunBefore() {
		return f
	}
	c := *f
	c.Untaken = false
	return &c
}

// untakenAt reports whether the atom or node at path failed, and was not called: see [atom.Failure.Untaken].
func (r *Record) untakenAt(path string) bool {
	return (r.Ended == grow.EndFailure || r.Ended == grow.EndHandled) && r.Failure.UntakenAt(path)
}

// nextIn returns the queue of the attempt that is to begin.
func (r *Record) nextIn() queue {
	if r.Attempt == 0 || r.Failure != nil && r.Failure.Untaken {
		return callQueue
	}
	return begunQueue
}

// mayEnd reports whether another party may end a node that is cancelled because its scope is. If a language ends the
// scope, the commit of its answer closes the token: if a party is faster, the run is loaded again, and the language
// hears of that end first. The end of a child run is in its own record.
func (n *Node) mayEnd() bool {
	if !n.Awaits() || n.Spec.Kind == grow.Nested || !n.Scope.stopping {
		return false
	}
	for scope := n.Scope; ; scope = scope.Parent.Scope {
		if scope.ending != nil {
			return false
		}
		if scope.Parent == nil {
			return true
		}
	}
}

// withdraw asks the driver to withdraw the attempt of a unit. A second call changes nothing.
func (s *Scheduler) withdraw(u *Unit) {
	if u.withdrawn {
		return
	}
	u.withdrawn = true
	s.inFlight.busy++
	s.emit(Command{Op: Withdraw, Unit: u})
}

// notWithdrawn forgets that the driver withdraws an attempt, because the attempt has ended.
func (s *Scheduler) notWithdrawn(u *Unit) {
	if u.withdrawn {
		u.withdrawn = false
		s.inFlight.busy--
	}
}

// withdrawn cancels an attempt that no party can end any longer, unless the attempt has ended.
func (s *Scheduler) withdrawn(ev *Event) {
	u := ev.Unit
	s.notWithdrawn(u)
	if !u.Awaits() {
		return
	}
	r, untaken := &u.Rec, ev.Untaken && u.Rec.NoneBegunBefore()
	if n := u.Node; n != nil {
		if untaken && n.Spec.Undo != nil {
			r.Attempt = 0
		}
		s.voidNode(n)
		s.left(n.Scope)
		return
	}
	if untaken && (u.Planned.Reverts() || u.Planned.StaysDone()) {
		r.Attempt, r.Ended = 0, grow.EndFailure
		r.Failure = &atom.Failure{
			Atom: u.Path, Code: atom.CodeCancelled, Message: "cancelled before a worker took the work",
		}
	}
	s.voidAwaited(u)
	s.push(op{choose, -1})
}
