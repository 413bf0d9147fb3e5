package inspect

import (
	"fmt"

	"github.com/ebbflow/ebb/internal/visible"
)

// Sentence describes for people what the runs of the group wait for.
func (w *WaitGroup) Sentence() string {
	name := quoted(w.Name)
	switch w.Kind {
	case WaitsForPerson:
		return "a person: an undo failed, or Ebb or the flow asks what to do"
	case WaitsForProcess:
		return "a process that serves " + name
	case WaitsForParkedJob:
		return "an operator: the jobs failed too often"
	case WaitsForParked:
		return "an operator: messages to " + name + " were sent in vain"
	case WaitsForOperator:
		return "an operator, who suspended them"
	case WaitsForPlace:
		return "a limit: " + visible.Line(w.Name)
	case WaitsForWorker:
		if w.Taken > 0 {
			return fmt.Sprintf("workers of %s, which have %d", name, w.Taken)
		}
		return "workers of " + name
	case WaitsForToken:
		return "the holders of tokens of " + name
	case WaitsForSignal:
		return "the signal " + name
	case WaitsForMessage:
		return "a message or an event for " + name
	case WaitsForRun:
		return "the runs that " + name + " began"
	case WaitsForRetry:
		return "a retry, " + w.Name
	case WaitsForUndoAgain:
		return "a retry of undo, " + w.Name
	case WaitsForTime:
		return "a timer, " + w.Name
	case WaitsForDeadline:
		return "their deadline, " + w.Name
	case WaitsForRevert:
		return "tasks of " + name + " that are being undone"
	default:
		return "tasks of " + name + " that execute"
	}
}
