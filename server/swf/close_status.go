package swf

import (
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/storage"
)

// Statuses of closed executions, in the order of the API's model.
var closeStatuses = []string{"COMPLETED", "FAILED", "CANCELED", "TERMINATED", "CONTINUED_AS_NEW", "TIMED_OUT"}

// endedAs has the status of an execution that the engine ended, such as one that an operator cancelled.
var endedAs = map[storage.Outcome]string{
	storage.Succeeded: "COMPLETED", storage.FailedOutcome: "FAILED", storage.TimedOut: "TIMED_OUT",
	storage.Cancelled: "TERMINATED", storage.Continued: "CONTINUED_AS_NEW",
}

// closeStatus returns how a closed execution closed.
func (x *execution) closeStatus() string {
	for _, status := range closeStatuses {
		if x.run.Labels[swf.LabelCloseStatus] == swf.LabelValue(x.Domain, status) {
			return status
		}
	}
	return endedAs[x.run.Outcome]
}
