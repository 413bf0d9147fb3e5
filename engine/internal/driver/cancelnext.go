package driver

import (
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
)

// cancelMoved cancels the run if it was to be cancelled when its language had answered what follows next. It reports
// whether it did.
func (d *Driver) cancelMoved() (cancelled bool, err error) {
	if !d.box.moved {
		return false, nil
	}
	d.box.moved = false
	unread := d.box.unread
	d.box.unread = nil
	for i := range unread {
		if unread[i].Kind != inbox.CancelNext {
			d.box.unread = append(d.box.unread, unread[i])
			continue
		}
		due := inbox.Due(&unread[i])
		so, tell, err := d.accept(&due, unread[i].N)
		if err != nil {
			return false, err
		}
		if tell {
			cancelled = true
			if err := d.feed(scheduler.Event{Kind: scheduler.CommandReceived, OperatorCommand: &so}); err != nil {
				return false, err
			}
		}
	}
	return cancelled, nil
}

// isTransition reports whether a question to a language is what follows from an end.
func isTransition(k flow.CauseKind) bool {
	switch k {
	case flow.Begin, flow.Ended, flow.Failed, flow.Joined, flow.JoinFailed, flow.Overdue, flow.Continue, flow.Undone,
		flow.UndoFailed:
		return true
	case flow.Stopped, flow.Told, flow.Taken, flow.Called, flow.Asked, flow.Receipt:
		return false
	default:
		return false
	}
}
