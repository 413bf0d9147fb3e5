package inbox

import (
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// The kinds of messages that are commands.
const (
	Suspend     = "suspend"
	Cancel      = "cancel"
	RevertTo    = "revert-to"
	Retry       = "retry"
	RetryRevert = "retry-revert"
	Skip        = "skip"
)

// A Command is what an operator asks of a run.
type Command struct {
	Kind  string
	Path  string // of the atom that it is about
	Why   *atom.Failure
	Undo  bool                  // Cancel: what was done is undone
	Input map[string]atom.Value // Retry: replaces inputs of the same name
	Err   error                 // why it cannot be a message
}

// body is the body of a command's message.
type body struct {
	Undo  bool                  `json:"undo,omitempty"`
	Input map[string]atom.Value `json:"input,omitempty"`
}

// ErrEmpty is returned for a command that asks nothing.
var ErrEmpty = errors.New("engine: the command is empty; create one with engine.Cancel, engine.RetryFrom or a similar function")

// Message returns the command as a message to a run.
func (c *Command) Message(run string) (storage.Message, error) {
	if c.Err != nil {
		return storage.Message{}, c.Err
	}
	if c.Kind == "" {
		return storage.Message{}, ErrEmpty
	}
	b, err := atom.Encode(body{c.Undo, c.Input})
	return storage.Message{Run: run, Kind: c.Kind, Path: c.Path, Failure: c.Why, Body: b}, err
}

// CommandOf returns the command that a message carries. It returns false if the
// message is not a command.
func CommandOf(m *storage.Message) (c Command, ok bool) {
	switch m.Kind {
	case Suspend, Cancel, RevertTo, Retry, RetryRevert, Skip:
		var b body
		err := m.Body.Decode(&b)
		return Command{Kind: m.Kind, Path: m.Path, Why: m.Failure, Undo: b.Undo, Input: b.Input, Err: err}, true
	default:
		return c, false
	}
}

// HasCommand reports whether one of the messages is a command.
func HasCommand(messages []storage.Message) bool {
	for i := range messages {
		if _, is := CommandOf(&messages[i]); is {
			return true
		}
	}
	return false
}

// Operator returns the command in the form that the scheduler takes. N is the number of its
// message.
func (c *Command) Operator(n int64) scheduler.OperatorCommand {
	so := scheduler.OperatorCommand{N: n, Path: c.Path, Why: c.Why}
	switch c.Kind {
	case Cancel:
		so.Kind, so.Undo = scheduler.Stop, c.Undo
	case RevertTo:
		so.Kind, so.Hold, so.Keep = scheduler.Rewind, true, true
	case Retry:
		so.Kind = scheduler.Rewind
	case RetryRevert:
		so.Kind = scheduler.RetryRevert
	case Skip:
		so.Kind = scheduler.Skip
	}
	if so.Why == nil {
		so.Why = Cancelled("")
	}
	return so
}

// Cancelled returns the failure of a run that was cancelled for that reason.
func Cancelled(why string) *atom.Failure {
	return &atom.Failure{Code: atom.CodeCancelled, Message: why}
}

// Holds returns the numbers of the messages that want a run to be suspended.
func Holds(messages []storage.Message) []int64 {
	var ns []int64
	for i := range messages {
		if messages[i].Kind == Suspend {
			ns = append(ns, messages[i].N)
		}
	}
	return ns
}
