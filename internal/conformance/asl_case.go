package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// An ASLCase is a run of one of our own state machines with its expected end: an element of a file of testdata/asl. The
// page testdata/FORMAT.md describes it.
type ASLCase struct {
	Name       string
	Rule       string // the rule of the language that determines the end
	Definition json.RawMessage
	Input      json.RawMessage // nil: {}
	Tasks      map[string][]*ASLReply
	Objects    []Object
	Status     string
	Output     json.RawMessage
	Error      *string
	Cause      *string
	Seconds    int
	Events     []any // texts, and lists of branches
}

// An ASLReply is the answer to one call of a state's task.
type ASLReply struct {
	Input     json.RawMessage // the input that it answers; nil: any
	After     int             // seconds of virtual time
	Submitted json.RawMessage // result of the call, if a token ends the task later; else nil
	Never     bool            // no answer comes
	Output    json.RawMessage
	Error     *string
	Cause     string
}

// An ASLEnd is how Ebb ended a run of a case.
type ASLEnd struct {
	Outcome

	Died    bool // a process died during the run
	Seconds float64
	Unused  []string // states whose tasks were called less often than in the case
}

// ASLAspects are the aspects that Compare checks, in order.
var ASLAspects = []string{"status", "output", "error", "cause", "events", "calls", "seconds"}

// ASLCases returns our own cases of the States Language.
func ASLCases(tb testing.TB) []*ASLCase {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(ownFolder(tb), "asl", "*.json"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("there are no cases of our own (%v)", err)
	}
	var all []*ASLCase
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var cases []*ASLCase
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields() // a misspelled expectation would hold
		if err := d.Decode(&cases); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		all = append(all, cases...)
	}
	return all
}

// Compare returns for each aspect what differs, or "".
func (c *ASLCase) Compare(got *ASLEnd) map[string]string {
	misses := map[string]string{
		"status":  difference("status", c.Status, got.Status),
		"output":  "",
		"error":   difference("error", fromText(c.Error), fromText(got.Error)),
		"cause":   difference("cause", fromText(c.Cause), fromText(got.Cause)),
		"events":  follows(c.Events, got.Events),
		"calls":   "",
		"seconds": "",
	}
	if c.Output != nil || c.Status == "SUCCEEDED" {
		misses["output"] = difference("output", decoded(c.Output), decoded(got.Output))
	}
	if len(got.Unused) > 0 {
		misses["calls"] = fmt.Sprintf("want further calls of %v", got.Unused)
	}
	if got.Seconds != float64(c.Seconds) && !(got.Died && c.limited() && got.Seconds > float64(c.Seconds)) {
		misses["seconds"] = fmt.Sprintf("want %d, got %g", c.Seconds, got.Seconds)
	}
	return misses
}

// limited reports whether the time limit ends a call, because it has no answer. A call that replaces one that was cut
// off has the whole limit.
func (c *ASLCase) limited() bool {
	for _, replies := range c.Tasks {
		if slices.ContainsFunc(replies, func(r *ASLReply) bool { return r.Never }) {
			return true
		}
	}
	return false
}

// An ASLScript answers the calls of one run of a case.
type ASLScript struct{ left map[string][]*ASLReply }

// Script returns the case's answers, all unused.
func (c *ASLCase) Script() *ASLScript {
	s := &ASLScript{left: map[string][]*ASLReply{}}
	for state, replies := range c.Tasks {
		s.left[state] = slices.Clone(replies)
	}
	return s
}

// Take returns the answer to a call of a state's task: the first unused answer for this input or for any. It returns
// false if there is none.
func (s *ASLScript) Take(state string, input json.RawMessage) (*ASLReply, bool) {
	for i, reply := range s.left[state] {
		if reply.Input == nil || difference("", decoded(reply.Input), decoded(input)) == "" {
			s.left[state] = slices.Delete(s.left[state], i, i+1)
			return reply, true
		}
	}
	return nil, false
}

// Unused returns the states that have unused answers.
func (s *ASLScript) Unused() []string {
	var states []string
	for state, left := range s.left {
		if len(left) > 0 {
			states = append(states, state)
		}
	}
	slices.Sort(states)
	return states
}

// Record returns the part of a recorded execution that a case has: the buckets.
func (c *ASLCase) Record() *Execution {
	return &Execution{Name: c.Name, Definition: c.Definition, Objects: c.Objects}
}

// CountASL counts the aspects in which a case agrees.
func (a *Aspects) CountASL(c *ASLCase, got *ASLEnd) {
	misses := c.Compare(got)
	for _, aspect := range ASLAspects {
		a.Count(aspect, c.Name, misses[aspect])
	}
}
