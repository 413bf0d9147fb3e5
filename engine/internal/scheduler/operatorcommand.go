package scheduler

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// An OperatorCommand is an operator's request to a run.
type OperatorCommand struct {
	Kind OperatorCommandKind
	N    int64         // number of its message; after CommandApplied the message is deleted
	Path string        // path of the atom that it concerns; "" means the run
	Why  *atom.Failure // for Stop: the reason
	Undo bool          // for Stop: undo the run
	Live bool          // for Stop: refuse it if the run has ended
	Hold bool          // for Rewind: come to rest after the undo, instead of going forward again
	Keep bool          // for Rewind: the atom itself stays done
	// Dropped is for CommandApplied: N is not a command but a message that no language was asked about.
	Dropped bool
}

// OperatorCommandKind is the kind of an operator's command.
type OperatorCommandKind uint8

// The kinds of operators' commands.
const (
	Stop        OperatorCommandKind = iota // end the run
	Rewind                                 // undo everything after the atom, then go forward from there
	RetryRevert                            // retry the reverts that failed
	Skip                                   // treat an atom whose revert failed as undone
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
			return errors.New("the run is already undone")
		}
		if (s.flow.Ended() || s.finished() && !s.stopReason.follows) && (!o.Undo || o.Live) {
			return errors.New("the run has ended and cannot be resumed")
		}
	case Rewind:
		if s.root != nil {
			return s.refuseUnwinding(o)
		}
		if a < 0 && o.Keep {
			return errors.New("name the atom to go back to")
		}
		if a < 0 && s.flow == states.FlowSuccess {
			return errors.New("the run has succeeded; name the atom to retry from")
		}
		for b, in := range s.rewindSet(a, o.Keep) {
			if in && s.failing.kept != nil && s.failing.kept[b] {
				return fmt.Errorf("atom %q is, or comes before, a pivot that has succeeded", s.plan.Atoms[b].Name())
			}
		}
	case RetryRevert, Skip:
		return s.refuseMending(o, a)
	}
	return nil
}

// refuseMending returns why a command about failed reverts is not allowed.
func (s *Scheduler) refuseMending(o *OperatorCommand, a int32) error {
	switch {
	case s.root == nil && a >= 0 && s.units[a].Rec.State != states.TaskRevertFailure:
		return fmt.Errorf("atom %q is %v; only a failed revert can be retried or skipped", o.Path, s.units[a].Rec.State)
	case !s.RevertFailed() && !s.undoes():
		return errors.New("no revert of the run has failed")
	case s.root != nil && s.undoStack.height == 0:
		return errors.New("the undo stack is empty")
	case s.root == nil && a < 0 && o.Kind == Skip:
		return errors.New("name the atom to skip")
	default:
		return nil
	}
}

// applyCommand applies an operator's command. If the run does not allow the command, applyCommand drops it.
func (s *Scheduler) applyCommand(o *OperatorCommand) {
	if s.Refuse(o) != nil {
		s.emit(Command{Op: CommandApplied, Detail: &Detail{OperatorCommand: o}})
		return
	}
	a := int32(-1)
	if o.Path != "" && s.root == nil {
		a = s.plan.Index(o.Path)
	}
	s.failing.fatal, s.stopReason.parked = nil, false
	switch o.Kind {
	case Stop:
		s.stopReason.commands = append(s.stopReason.commands, o)
		s.endFromOutside(PendingCancelled, o.Why, o.Undo)
	case Rewind:
		s.stopReason.commands = append(s.stopReason.commands, o)
		if s.root != nil {
			s.unwindTo(o)
		} else {
			s.rewindTo(a, o)
		}
	case RetryRevert, Skip:
		s.emit(Command{Op: CommandApplied, Detail: &Detail{OperatorCommand: o}})
		s.mendReverts(a, o)
	}
}

// finishCommands reports that the current commands are done.
func (s *Scheduler) finishCommands() {
	for _, o := range s.stopReason.commands {
		s.emit(Command{Op: CommandApplied, Detail: &Detail{OperatorCommand: o}})
	}
	s.stopReason.commands = nil
}

// mendReverts continues the undo at reverts that failed.
func (s *Scheduler) mendReverts(a int32, o *OperatorCommand) {
	if s.root != nil {
		s.undoStack.skipping, s.undoStack.mending = o.Kind == Skip, o.Kind == RetryRevert
	}
	for i := range s.units {
		u, r := &s.units[i], &s.units[i].Rec
		if r.State != states.TaskRevertFailure || a >= 0 && u.Index != a {
			if r.State == states.TaskRevertFailure && s.parks(u) {
				s.stopReason.parked = true
			}
			continue
		}
		if s.root == nil && o.Kind == Skip {
			s.set(u, states.TaskReverted, r.Intention)
			continue
		}
		r.setExtra(func(x *RecordExtra) { x.RevertAttempt, x.RevertFailure = 0, nil })
		s.set(u, r.State, states.IntendRevert)
		s.readySet.redo = append(s.readySet.redo, u.Index)
	}
	s.push(op{choose, -1})
}
