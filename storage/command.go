package storage

import "github.com/ebbflow/ebb/flow"

// The kinds of messages that are commands of operators. A suspended run with a command other than MessageSuspend is
// due, see [Driver.Due].
const (
	MessageSuspend     flow.MessageKind = "suspend"
	MessageResume      flow.MessageKind = "resume"
	MessageCancel      flow.MessageKind = "cancel"
	MessageRevertTo    flow.MessageKind = "revert-to"
	MessageRetry       flow.MessageKind = "retry"
	MessageRetryRevert flow.MessageKind = "retry-revert"
	MessageSkip        flow.MessageKind = "skip"
)

// ReachesHeld reports whether a message makes a suspended run due.
func (l *Message) ReachesHeld() bool {
	switch l.Kind {
	case MessageResume, MessageCancel, MessageRevertTo, MessageRetry, MessageRetryRevert, MessageSkip:
		return true
	default:
		return false
	}
}
