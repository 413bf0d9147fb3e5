package inbox

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// The kinds of messages that are commands.
const (
	Suspend     = backend.MessageSuspend
	Resume      = backend.MessageResume
	Revert      = backend.MessageRevert
	Cancel      = backend.MessageCancel
	RevertTo    = backend.MessageRevertTo
	Retry       = backend.MessageRetry
	RetryRevert = backend.MessageRetryRevert
	Skip        = backend.MessageSkip
	// CancelNext becomes Cancel when the language has answered its next question. Until then it is not a command, but a
	// message that waits in the inbox.
	CancelNext grow.MessageKind = "cancel-next"
)

// A Command is an operator's request to a run.
type Command struct {
	Kind  grow.MessageKind
	Path  string // path of the atom that it concerns
	Why   *atom.Failure
	Undo  bool                  // for Cancel: undo the run
	Live  bool                  // for Cancel: refuse it if the run has ended
	Deep  bool                  // for Cancel: the runs that the run waits for have it, too
	Input map[string]atom.Value // for RetryFrom: replaces inputs with the same name
	By    *storage.Issuer       // who gave it; nil if the history is not to mention it
	// Next is the number of the first line of history that who gave the command had not seen: it is refused unless the run
	// rests since that line. 0 applies in any case.
	Next   int64
	Answer string // id of the token that receives the answer of the run; "" for none
	Err    error  // why it cannot be sent as a message; nil if it can
}

// body is the body of a command's message.
type body struct {
	Undo  bool                  `json:"undo,omitempty"`
	Live  bool                  `json:"live,omitempty"`
	Deep  bool                  `json:"deep,omitempty"`
	Input map[string]atom.Value `json:"input,omitempty"`
	Next  int64                 `json:"next,omitempty"`
}

// ErrEmpty is returned for the zero command.
var ErrEmpty = errors.New("engine: the command is empty; create one with engine.Cancel, engine.RetryFrom or a " +
	"similar function")

// Message returns the command as a message to a run.
func (c *Command) Message(run string) (storage.Message, error) {
	if c.Err != nil {
		return storage.Message{}, c.Err
	}
	if c.Kind == "" {
		return storage.Message{}, ErrEmpty
	}
	b, err := atom.Encode(body{c.Undo, c.Live, c.Deep, c.Input, c.Next})
	return storage.Message{
		Run: run, Kind: c.Kind, Path: c.Path, Name: c.Answer, Failure: c.Why, Body: b, Issuer: c.By,
	}, err
}

// CommandOf returns the command that a message carries. It returns false if the
// message is not a command.
func CommandOf(m *storage.Message) (c Command, ok bool) {
	switch m.Kind {
	case Suspend, Resume, Cancel, Revert, RevertTo, Retry, RetryRevert, Skip:
		var b body
		err := m.Body.Decode(&b)
		return Command{
			Kind: m.Kind, Path: m.Path, Why: m.Failure, Undo: b.Undo, Live: b.Live, Deep: b.Deep, Input: b.Input, By: m.Issuer,
			Next: b.Next, Answer: m.Name, Err: err,
		}, true
	default:
		return c, false
	}
}

// Due returns the command that a message of [CancelNext] becomes.
func Due(m *storage.Message) Command {
	return Command{Kind: Cancel, Why: m.Failure, Undo: true, Live: true}
}

// Outlasts reports whether a message stays in the inbox when its run has ended: if the run is reopened, it may await
// the message.
func Outlasts(l *storage.Message) bool {
	return l.Receipt == "" && (l.Kind == grow.MessageSignal || l.Kind == grow.MessageEvent)
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

// Operator returns the command in the scheduler's form. n is the number of its message.
func (c *Command) Operator(n int64) scheduler.OperatorCommand {
	so := scheduler.OperatorCommand{N: n, Path: c.Path, Why: c.Why}
	switch c.Kind {
	case Cancel, Revert:
		so.Kind, so.Undo, so.Live = scheduler.Stop, c.Undo, c.Live
	case RevertTo:
		so.Kind, so.Hold, so.Keep = scheduler.Rewind, true, true
		so.Why = Cancelled(fmt.Sprintf("undone down to %q, as an operator asked", c.Path))
	case Retry:
		so.Kind = scheduler.Rewind
	case RetryRevert:
		so.Kind = scheduler.RetryRevert
	case Skip:
		so.Kind = scheduler.Skip
	default: // a request to suspend, which the driver applies, or a message that is not a command
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

// Holds returns the numbers of the messages that ask to suspend the run.
func Holds(messages []storage.Message) []int64 {
	var ns []int64
	for i := range messages {
		if messages[i].Kind == Suspend {
			ns = append(ns, messages[i].N)
		}
	}
	return ns
}
