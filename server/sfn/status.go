package sfn

import (
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Statuses of executions.
const (
	statusRunning   = "RUNNING"
	statusSucceeded = "SUCCEEDED"
	statusFailed    = "FAILED"
	statusTimedOut  = "TIMED_OUT"
	statusAborted   = "ABORTED"

	// statusPendingRedrive is that of an execution of a map run that did not succeed and waits to be redriven with it.
	statusPendingRedrive = "PENDING_REDRIVE"
)

// statuses has the status of an execution whose run has ended, by how the run ended and how much was undone. A run that
// is still undone has not ended: its execution is RUNNING.
var statuses = map[storage.Outcome]map[storage.Undone]string{
	storage.Succeeded: {
		storage.UndoNone: statusSucceeded,
	},
	storage.FailedOutcome: {
		storage.UndoNone: statusFailed, storage.UndoneAll: statusFailed, storage.UndonePart: statusFailed,
		storage.UndoFailed: statusFailed,
	},
	storage.TimedOut: {
		storage.UndoNone: statusTimedOut, storage.UndoneAll: statusTimedOut, storage.UndonePart: statusTimedOut,
		storage.UndoFailed: statusTimedOut,
	},
	storage.Cancelled: {
		storage.UndoNone: statusAborted, storage.UndoneAll: statusAborted, storage.UndonePart: statusAborted,
		storage.UndoFailed: statusAborted,
	},
}

// statusOf returns the status of the execution of a run.
func statusOf(run *storage.Run) string {
	if !run.State.Ended() {
		return statusRunning
	}
	if status := statuses[run.Outcome][run.Undo]; status != "" {
		return status
	}
	return statusFailed // a run of another program, which ended in a way that no execution does
}

// byStatus restricts a query to the executions with a status; false if there are none.
func byStatus(q *storage.RunQuery, status string) bool {
	switch status {
	case "":
		return true
	case statusRunning:
		q.States = running
		return true
	case statusPendingRedrive:
		q.Outcomes, q.States = unsuccessful, ended
		return true
	}
	for outcome, of := range statuses {
		if of[storage.UndoNone] == status {
			q.Outcomes, q.States = []storage.Outcome{outcome}, ended
			return true
		}
	}
	return false
}

var (
	running = []states.Flow{
		states.FlowPending, states.FlowRunning, states.FlowSuspending, states.FlowSuspended, states.FlowResuming,
	}
	ended = []states.Flow{states.FlowSuccess, states.FlowFailure, states.FlowReverted}

	unsuccessful = []storage.Outcome{storage.FailedOutcome, storage.TimedOut, storage.Cancelled}
)
