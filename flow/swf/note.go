package swf

import (
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// TimeoutNode is the name and the kind of the node that ends an execution when its time is over.
const TimeoutNode = "timeout"

// DecisionNode is the kind of the node of a decision task, and its id for [NodeName].
const DecisionNode = "decision"

// The kinds of other nodes.
const (
	decisionNode = DecisionNode
	activityNode = "activity"
	timerNode    = "timer"
	childNode    = "child"
	lambdaNode   = "lambda"
)

// The kinds of messages to other executions, as names of messages and in their notes.
const (
	signalMessage        = "signal"
	requestCancelMessage = "requestCancel"
	terminateMessage     = "terminate" // the child policy of a parent
	cancelPolicyMessage  = "cancelPolicy"
)

// A note is what a node, or a message with a receipt, remembers for the question about its end.
type note struct {
	Kind    string  `json:"kind"`
	Event   int64   `json:"event,omitempty"` // event that created the node
	Started int64   `json:"started,omitempty"`
	ID      string  `json:"id,omitempty"` // id that the decision gave it
	Type    *Type   `json:"type,omitempty"`
	RunID   string  `json:"runId,omitempty"`
	Control *string `json:"control,omitempty"`
	Decided int64   `json:"decided,omitempty"` // the DecisionTaskCompleted event
	// Limits of tasks, in milliseconds since 1970: of the start, of the end. ToClose is a duration until the task starts.
	StartDue int64 `json:"startDue,omitempty"`
	CloseDue int64 `json:"closeDue,omitempty"`
	ToClose  int64 `json:"toClose,omitempty"`
}

func (n *note) value() atom.Value { return atom.MustEncode(n) }

// maxName is the length in bytes of the part of an id that is in the name of its node.
const maxName = 100

// NodeName returns the name of the node that an event created, by the id that a decision gave it: Pay#5.
func NodeName(id string, event int64) string {
	if len(id) > maxName {
		id = strings.ToValidUTF8(id[:maxName], "")
	}
	return nodepath.Escape(id) + "#" + strconv.FormatInt(event, 10)
}

// limit returns a timeout as the engine takes it: 0 is without limit.
func limit(timeout string) time.Duration {
	if timeout == decision.None || timeout == "" {
		return 0
	}
	return max(seconds(timeout), time.Millisecond)
}

func seconds(timeout string) time.Duration {
	n, _ := strconv.ParseInt(timeout, 10, 32) // it was validated
	return time.Duration(n) * time.Second
}

func priority(text string) int32 {
	n, _ := strconv.ParseInt(text, 10, 32) // it was validated
	return int32(n)
}

// dueAfter returns when a limit is over; 0 for none.
func dueAfter(now time.Time, limit time.Duration) int64 {
	if limit == 0 {
		return 0
	}
	return now.Add(limit).UnixMilli()
}

// textOf returns a value as the API shows it: a string as it is, nothing for null, other JSON as its text.
func textOf(v atom.Value) *string {
	if len(v) == 0 || v.String() == "null" {
		return nil
	}
	text := v.String()
	if strings.HasPrefix(text, `"`) {
		var s string
		if v.Decode(&s) == nil {
			text = s
		}
	}
	return &text
}

// isOverdue reports whether the execution's own timeout came before the event about a node, or at the same time.
func (t *turn) isOverdue(n *note) bool {
	c := &t.ask.Cause
	if t.memory.Due == 0 || t.ask.Now.UnixMilli() < t.memory.Due || c.Call || n.Kind == childNode {
		return false
	}
	due := t.ask.Now.UnixMilli()
	switch {
	case n.Kind == timerNode && c.Kind == grow.Ended:
		due = n.CloseDue
	case c.Kind != grow.Failed:
		return false
	case c.Failure.Code == atom.CodeScheduleToStart:
		due = n.StartDue
	case c.Failure.Code == atom.CodeStartToClose:
		due = n.ToClose
	case c.Failure.Code == atom.CodeTimeout:
		due = n.CloseDue
	case c.Failure.Code != atom.CodeHeartbeatLost:
		return false
	}
	return due >= t.memory.Due
}
