package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// A MachineCase is a run of a state machine in SM4C with its expected end: a line of a file of sm4c.
type MachineCase struct {
	Name       string
	Basis      string
	Tags       []string
	Definition json.RawMessage
	Input      json.RawMessage // nil: none
	Functions  map[string][]*Reply
	Events     []Delivery
	Subflows   map[string]json.RawMessage
	Resources  map[string]json.RawMessage
	Options    struct {
		WaitDefault bool `json:"waitDefault"`
	}
	CallsOrder string `json:"calls_order"`
	Expected   MachineEnd
}

// A Reply is the answer of a function to a call.
type Reply struct {
	Args   json.RawMessage // the arguments that it answers; nil: any
	Delay  int64           `json:"delay_ms"`
	Result json.RawMessage
	Error  json.RawMessage // instead of Result
	Emit   []json.RawMessage
	used   bool
}

// After returns how long the reply takes.
func (r *Reply) After() time.Duration { return time.Duration(r.Delay) * time.Millisecond }

// A Delivery is an event that is sent to the run.
type Delivery struct {
	AtStart bool  `json:"at_start"`
	AfterMS int64 `json:"after_ms"`
	Event   json.RawMessage
}

// A MachineEnd is how a machine ends, or waits.
type MachineEnd struct {
	Status string // completed, failed, timed_out or waiting
	Output json.RawMessage
	Error  *struct {
		Code    string
		Message *string
	}
	State   string
	Data    json.RawMessage
	Sent    []SentEvent `json:"sent_events"`
	Trace   []string
	Calls   map[string][]json.RawMessage
	Elapsed *int64 `json:"elapsed_ms"`
}

// A SentEvent is an event that a machine has sent.
type SentEvent struct {
	Event      string
	Type       string
	Data       json.RawMessage
	Source     *string
	Attributes map[string]string `json:"contextAttributes"`
}

// MachineCases returns the cases of a file that [ForFiles] names.
func MachineCases(tb testing.TB, file string) []*MachineCase {
	tb.Helper()
	return lines[MachineCase](tb, file+".jsonl")
}

// MachineAspects are the aspects that Compare checks, in order.
var MachineAspects = []string{"status", "output", "error", "sent", "trace", "calls", "elapsed"}

// Compare returns for each aspect what differs, or "".
func (c *MachineCase) Compare(got *MachineEnd) map[string]string {
	want := &c.Expected
	misses := map[string]string{
		"status":  difference("status", want.Status, got.Status),
		"output":  want.outputs(got),
		"error":   want.errors(got),
		"sent":    want.sent(got),
		"trace":   "",
		"calls":   want.calls(got, c.CallsOrder == "any"),
		"elapsed": "",
	}
	if want.Trace != nil && !slices.Equal(want.Trace, got.Trace) {
		misses["trace"] = fmt.Sprintf("want %s, got %s", short(want.Trace), short(got.Trace))
	}
	if want.Elapsed != nil && (got.Elapsed == nil || *want.Elapsed != *got.Elapsed) {
		misses["elapsed"] = fmt.Sprintf("want %d ms, got %s", *want.Elapsed, short(got.Elapsed))
	}
	return misses
}

func (e *MachineEnd) outputs(got *MachineEnd) string {
	switch e.Status {
	case "completed", "timed_out":
		return difference("output", decoded(e.Output), decoded(got.Output))
	case "waiting":
		if miss := difference("state", e.State, got.State); miss != "" {
			return miss
		}
		return difference("data", decoded(e.Data), decoded(got.Data))
	}
	return ""
}

func (e *MachineEnd) errors(got *MachineEnd) string {
	switch {
	case e.Error == nil && got.Error == nil:
		return ""
	case e.Error == nil:
		return "want none, got " + got.Error.Code + ": " + *got.Error.Message
	case got.Error == nil:
		return "want " + e.Error.Code + ", got none"
	case e.Error.Code != got.Error.Code:
		return fmt.Sprintf("want %s, got %s: %s", e.Error.Code, got.Error.Code, *got.Error.Message)
	case e.Error.Message != nil:
		return difference("message", *e.Error.Message, *got.Error.Message)
	}
	return ""
}

func (e *MachineEnd) sent(got *MachineEnd) string {
	if len(e.Sent) != len(got.Sent) {
		return fmt.Sprintf("want %d events, got %s", len(e.Sent), short(got.Sent))
	}
	for i, want := range e.Sent {
		sent := got.Sent[i]
		at := fmt.Sprintf("event %d", i)
		miss := difference(at, want.Event+" "+want.Type, sent.Event+" "+sent.Type)
		if miss == "" {
			miss = difference(at+" data", decoded(want.Data), decoded(sent.Data))
		}
		if miss == "" && want.Source != nil {
			miss = difference(at+" source", *want.Source, *sent.Source)
		}
		if miss == "" && fmt.Sprint(want.Attributes) != fmt.Sprint(sent.Attributes) {
			miss = fmt.Sprintf("%s: want the attributes %v, got %v", at, want.Attributes, sent.Attributes)
		}
		if miss != "" {
			return miss
		}
	}
	return ""
}

func (e *MachineEnd) calls(got *MachineEnd, anyOrder bool) string {
	for name := range got.Calls {
		if len(e.Calls[name]) == 0 {
			return "want no call of " + name
		}
	}
	for name, want := range e.Calls {
		made := slices.Clone(got.Calls[name])
		if len(made) != len(want) {
			return fmt.Sprintf("%s: want %d calls, got %s", name, len(want), short(made))
		}
		for i, args := range want {
			at := i
			if anyOrder {
				at = 0
				for at < len(made)-1 && difference("", decoded(args), decoded(made[at])) != "" {
					at++
				}
			}
			if miss := difference(fmt.Sprintf("%s call %d", name, i), decoded(args), decoded(made[at])); miss != "" {
				return miss
			}
			if anyOrder {
				made = slices.Delete(made, at, at+1)
			}
		}
	}
	return ""
}

// Replies answer the calls of a run of a case, and record them.
type Replies struct {
	mu      sync.Mutex
	replies map[string][]*Reply
	calls   map[string][]json.RawMessage
}

// Replies returns the case's replies, all unused.
func (c *MachineCase) Replies() *Replies {
	r := &Replies{replies: map[string][]*Reply{}, calls: map[string][]json.RawMessage{}}
	for name, list := range c.Functions {
		for _, reply := range list {
			again := *reply
			r.replies[name] = append(r.replies[name], &again)
		}
	}
	return r
}

// Take returns the reply to a call: the first unused one for these arguments or for any. It returns false if there is
// none.
func (r *Replies) Take(function string, args json.RawMessage) (*Reply, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[function] = append(r.calls[function], args)
	for _, reply := range r.replies[function] {
		if !reply.used && (reply.Args == nil || difference("", decoded(reply.Args), decoded(args)) == "") {
			reply.used = true
			return reply, true
		}
	}
	return nil, false
}

// Calls returns the arguments of the recorded calls, by function.
func (r *Replies) Calls() map[string][]json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// SentEventOf returns the compared part of a CloudEvent that was sent.
func SentEventOf(cloudEvent json.RawMessage) (SentEvent, error) {
	var e map[string]json.RawMessage
	if err := json.Unmarshal(cloudEvent, &e); err != nil {
		return SentEvent{}, fmt.Errorf("an event that was sent: %w", err)
	}
	var sent SentEvent
	for name, value := range e {
		var text string
		if name != "data" {
			if err := json.Unmarshal(value, &text); err != nil {
				return sent, fmt.Errorf("attribute %s of an event that was sent: %w", name, err)
			}
		}
		switch name {
		case "subject":
			sent.Event = text
		case "type":
			sent.Type = text
		case "source":
			sent.Source = &text
		case "data":
			sent.Data = value
		case "specversion", "id", "time", "datacontenttype":
		default:
			if sent.Attributes == nil {
				sent.Attributes = map[string]string{}
			}
			sent.Attributes[name] = text
		}
	}
	return sent, nil
}

// CountMachine counts the aspects in which a case agrees.
func (a *Aspects) CountMachine(c *MachineCase, got *MachineEnd) {
	misses := c.Compare(got)
	for _, aspect := range MachineAspects {
		a.Count(aspect, c.Name, misses[aspect])
	}
}
