package engine

import (
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// conclude says how the run ended, once it has.
func (d *driver) conclude(cmd *scheduler.Command) {
	over := *cmd
	d.over = &over
	d.dirty = true
	h := &d.head
	h.Release = true
	h.Failure = nil
	switch cmd.FlowTo {
	case states.FlowSuspended:
		h.Hold = true
		return
	case states.FlowSuccess:
		h.Outcome, h.Undo = storage.Succeeded, storage.UndoNone
		if cmd.End != nil {
			h.Output = d.hold(cmd.End.Value)
		}
	default:
		h.Outcome, h.Undo = storage.FailedOutcome, storage.UndoNone
		if cmd.End != nil && cmd.End.TimedOut {
			h.Outcome = storage.TimedOut
		}
		if cmd.FlowTo == states.FlowReverted {
			h.Undo = storage.UndoneAll
		} else if d.s.RevertFailed() {
			h.Undo = storage.UndoFailed
		}
		if len(cmd.Failures) > 0 {
			h.Failure = cmd.Failures[0]
		}
	}
	h.Ended = d.now
}
