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
	d.next.Dirty = true
	defer d.endJob()
	h := &d.next.Head
	h.Release, h.Wakeups = true, d.wakeups
	h.Failure, h.Hold = nil, false
	switch cmd.FlowTo {
	case states.FlowSuspended:
		h.Hold = true
		if len(cmd.Failures) > 0 { // a revert failed, and a human is to decide
			h.Failure = cmd.Failures[0]
		} else if d.aside != nil {
			h.Failure = d.aside
			d.e.log.Error("a run is set aside", "run", d.claim.Run, "reason", d.aside.Message)
		}
		return
	case states.FlowSuccess:
		h.Outcome, h.Undo = storage.Succeeded, storage.UndoNone
		if cmd.End != nil {
			h.Output = d.next.Hold(cmd.End.Value)
		}
	default:
		h.Outcome, h.Undo = storage.FailedOutcome, storage.UndoNone
		if cmd.PendingOutcome != scheduler.NothingPending {
			h.Outcome = outcomes[cmd.PendingOutcome]
		}
		switch {
		case cmd.FlowTo == states.FlowReverted:
			h.Undo = storage.UndoneAll
		case d.s.RevertFailed():
			h.Undo = storage.UndoFailed
		case d.s.Kept() || d.s.PartlyUndone():
			h.Undo = storage.UndonePart
		}
		if len(cmd.Failures) > 0 {
			h.Failure = cmd.Failures[0]
		}
	}
	h.Ended = d.next.Now
	d.dropTimers()
	for path := range d.external {
		d.closeToken(path, false)
	}
	d.tellParent()
}
