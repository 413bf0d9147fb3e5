package backend

import (
	"slices"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// The kinds of messages that are commands of operators. A suspended run with a command other than MessageSuspend is
// due, see [Driver.Due].
const (
	MessageSuspend     grow.MessageKind = "suspend"
	MessageResume      grow.MessageKind = "resume"
	MessageCancel      grow.MessageKind = "cancel"
	MessageRevert      grow.MessageKind = "revert"
	MessageRevertTo    grow.MessageKind = "revert-to"
	MessageRetry       grow.MessageKind = "retry"
	MessageRetryRevert grow.MessageKind = "retry-revert"
	MessageSkip        grow.MessageKind = "skip"
)

// MessageRefused is the kind of the message that makes the owner of a run add a line to its history: a command was
// refused before it was sent. Name is the command, such as "skip", Path its atom, and Failure says why.
const MessageRefused grow.MessageKind = "refused"

// IsCommand reports whether a message is a command of an operator.
func IsCommand(m *storage.Message) bool { return m.Kind == MessageSuspend || reachesHeld(m.Kind) }

// ReachesHeld reports whether one of the messages makes a suspended run due.
func ReachesHeld(messages ...storage.Message) bool {
	return slices.ContainsFunc(messages, func(m storage.Message) bool { return reachesHeld(m.Kind) })
}

func reachesHeld(kind grow.MessageKind) bool {
	switch kind {
	case MessageResume, MessageCancel, MessageRevert, MessageRevertTo, MessageRetry, MessageRetryRevert, MessageSkip:
		return true
	default:
		return false
	}
}
