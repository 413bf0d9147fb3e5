package backend

import (
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// The kinds of messages that are commands of operators. A suspended run with a command other than MessageSuspend is
// due, see [Driver.Due].
const (
	MessageSuspend     flow.MessageKind = "suspend"
	MessageResume      flow.MessageKind = "resume"
	MessageCancel      flow.MessageKind = "cancel"
	MessageRevert      flow.MessageKind = "revert"
	MessageRevertTo    flow.MessageKind = "revert-to"
	MessageRetry       flow.MessageKind = "retry"
	MessageRetryRevert flow.MessageKind = "retry-revert"
	MessageSkip        flow.MessageKind = "skip"
)

// MessageRefused is the kind of the message that makes the owner of a run add a line to its history: a command was
// refused before it was sent. Name is the command, such as "skip", Path its atom, and Failure says why.
const MessageRefused flow.MessageKind = "refused"

// IsCommand reports whether a message is a command of an operator.
func IsCommand(m *storage.Message) bool { return m.Kind == MessageSuspend || reachesHeld(m.Kind) }

// ReachesHeld reports whether one of the messages makes a suspended run due.
func ReachesHeld(messages ...storage.Message) bool {
	return slices.ContainsFunc(messages, func(m storage.Message) bool { return reachesHeld(m.Kind) })
}

func reachesHeld(kind flow.MessageKind) bool {
	switch kind {
	case MessageResume, MessageCancel, MessageRevert, MessageRevertTo, MessageRetry, MessageRetryRevert, MessageSkip:
		return true
	default:
		return false
	}
}
