package scheduler

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// An OperatorCommand is what an operator asks of a run.
type OperatorCommand struct {
	Kind OperatorCommandKind
	N    int64         // number of its message; after CommandDone the message is no longer needed
	Path string        // of the atom it is about; "" is the run
	Why  *atom.Failure // Stop: what to say about it
	Undo bool          // Stop: undo what was done
	Hold bool          // Rewind: come to rest when it is done, instead of going forward again
	Keep bool          // Rewind: the atom itself stays done
}

// OperatorCommandKind tells commands of operators apart.
type OperatorCommandKind uint8

// The kinds of commands.
const (
	Stop        OperatorCommandKind = iota // end the run
	Rewind                                 // undo what came after the atom, then go forward from there
	RetryRevert                            // try the reverts that failed once more
	Skip                                   // count an atom that could not be undone as undone
)

// Refuse returns why the run does not allow a command; nil if it does.
func (s *Scheduler) Refuse(o *OperatorCommand) error {
	a := int32(-1)
	if o.Path != "" && s.root == nil {
		if a = s.plan.Index(o.Path); a < 0 {
			return fmt.Errorf("there is no atom %q", o.Path)
		}
	}
	switch o.Kind {
	case Stop:
		if s.flow == states.FlowReverted {
			return errors.New("the run is undone already")
		}
		if s.flow.Ended() && !o.Undo {
			return errors.New("the run has ended, and nothing of it goes on")
		}
	case Rewind:
		if s.root != nil {
			return s.refuseUnwinding(o)
		}
		if a < 0 && o.Keep {
			return errors.New("it must be said which atom to go back to")
		}
		for b, in := range s.rewindSet(a, o.Keep) {
			if in && s.failing.kept != nil && s.failing.kept[b] {
				return fmt.Errorf("atom %q is, or comes before, a point of no return that was passed", s.plan.Atoms[b].Name())
			}
		}
	case RetryRevert, Skip:
		return s.refuseMending(o, a)
	}
	return nil
}

// refuseMending returns why the command cannot be applied to what could not be
// undone.
func (s *Scheduler) refuseMending(o *OperatorCommand, a int32) error {
	switch {
	case s.root == nil && a >= 0 && s.rec[a].State != states.TaskRevertFailure:
		return fmt.Errorf("atom %q is %v; only a revert that failed can be tried again or skipped", o.Path, s.rec[a].State)
	case !s.RevertFailed() && !s.undoes():
		return errors.New("no revert of the run has failed")
	case s.root != nil && s.stack.height == 0:
		return errors.New("nothing is left on the undo stack")
	case s.root == nil && a < 0 && o.Kind == Skip:
		return errors.New("it must be said which atom to skip")
	default:
		return nil
	}
}

// applyCommand applies a command of an operator. If the run does not allow the
// command, applyCommand drops it.
func (s *Scheduler) applyCommand(o *OperatorCommand) {
	if s.Refuse(o) != nil {
		s.emit(Command{Op: CommandApplied, Atom: -1, Detail: &Detail{OperatorCommand: o}})
		return
	}
	a := int32(-1)
	if o.Path != "" && s.root == nil {
		a = s.plan.Index(o.Path)
	}
	s.failing.fatal, s.ending.parked = nil, false
	switch o.Kind {
	case Stop:
		s.ending.commands = append(s.ending.commands, o)
		s.endFromOutside(PendingCancelled, o.Why, o.Undo)
	case Rewind:
		s.ending.commands = append(s.ending.commands, o)
		if s.root != nil {
			s.unwindTo(o)
		} else {
			s.rewindTo(a, o)
		}
	case RetryRevert, Skip:
		s.emit(Command{Op: CommandApplied, Atom: -1, Detail: &Detail{OperatorCommand: o}})
		s.mendReverts(a, o)
	}
}

// finishCommands reports that the commands being applied are done.
func (s *Scheduler) finishCommands() {
	for _, o := range s.ending.commands {
		s.emit(Command{Op: CommandApplied, Atom: -1, Detail: &Detail{OperatorCommand: o}})
	}
	s.ending.commands = nil
}

// mendReverts goes on with undoing where it failed.
func (s *Scheduler) mendReverts(a int32, o *OperatorCommand) {
	if s.root != nil {
		s.stack.skipping, s.stack.mending = o.Kind == Skip, o.Kind == RetryRevert
	}
	for i := range s.rec {
		b, r := int32(i), &s.rec[i]
		if r.State != states.TaskRevertFailure || a >= 0 && b != a {
			if r.State == states.TaskRevertFailure && s.parks(b) {
				s.ending.parked = true
			}
			continue
		}
		if s.root == nil && o.Kind == Skip {
			s.set(b, states.TaskReverted, r.Intention)
			continue
		}
		r.setRare(func(x *Rare) { x.RevertAttempt, x.RevertFailure = 0, nil })
		s.set(b, r.State, states.IntendRevert)
		s.front.redo = append(s.front.redo, b)
	}
	s.push(op{choose, -1})
}
