package conformance

import (
	"encoding/json"
	"slices"
	"testing"
)

// A TaskFlowRecord is a flow that OpenStack TaskFlow's serial engine ran: a line of a file of taskflow/.
type TaskFlowRecord struct {
	Name   string
	Case   TaskFlowCase
	Expect TaskFlowOutcome
}

// A TaskFlowCase describes a flow, the script of its atoms, and its interruptions.
type TaskFlowCase struct {
	Flow       TaskFlowNode
	Store      map[string]json.RawMessage
	Options    TaskFlowOptions
	Interrupts []TaskFlowInterrupt
	After      []string // "run" or "reset_run", by the same engine
}

// TaskFlowOptions are the options of TaskFlow's engine that a case may set.
type TaskFlowOptions struct {
	DeferReverts bool `json:"defer_reverts"`
	NeverResolve bool `json:"never_resolve"`
}

// A TaskFlowNode is a task or a flow.
type TaskFlowNode struct {
	Kind string // task, linear, unordered or graph
	Name string

	Children []TaskFlowNode
	Retry    *TaskFlowRetry
	Links    []TaskFlowLink
	Target   string

	Requires       []string
	Rebind         map[string]string
	Optional       []string
	Inject         map[string]json.RawMessage
	RevertRequires []string          `json:"revert_requires"`
	RevertRebind   map[string]string `json:"revert_rebind"`
	Provides       json.RawMessage
	Priority       int
	Result         json.RawMessage
	RevertResult   json.RawMessage `json:"revert_result"`
	TaskFlowFaults
}

// TaskFlowFaults say which calls of an atom fail, and with which error.
type TaskFlowFaults struct {
	FailOn           map[string]string `json:"fail_on"`
	FailAlways       string            `json:"fail_always"`
	RevertFailOn     map[string]string `json:"revert_fail_on"`
	RevertFailAlways string            `json:"revert_fail_always"`
}

// A TaskFlowRetry is the retry of a flow.
type TaskFlowRetry struct {
	Kind       string
	Name       string
	Provides   string
	Priority   int
	Attempts   int
	Values     []json.RawMessage
	ValuesFrom string `json:"values_from"`
	RevertAll  bool   `json:"revert_all"`
	Decisions  []string
	TaskFlowFaults
}

// A TaskFlowLink joins two children of a graph.
type TaskFlowLink struct {
	From    string
	To      string
	Decider *TaskFlowDecider
	Depth   string
}

// A TaskFlowDecider says yes always, never, or when an atom's result is a value.
type TaskFlowDecider struct {
	Const  *bool
	Equals *struct {
		Atom  string
		Value json.RawMessage
	}
}

// A TaskFlowInterrupt stops a run at the nth notification of its kind.
type TaskFlowInterrupt struct {
	Mode string // suspend, suspend_reload or crash
	At   struct {
		Atom  string
		State string
		Flow  string
		Nth   int
	}
}

// A TaskFlowOutcome is the whole record of a case.
type TaskFlowOutcome struct {
	BuildError       string        `json:"build_error,omitempty"`
	Runs             []TaskFlowRun `json:"runs"`
	InterruptsFired  int           `json:"interrupts_fired"`
	Final            TaskFlowFinal `json:"final"`
	OrderInsensitive bool          `json:"order_insensitive,omitempty"`
}

// A TaskFlowRun is one part of a case: from a start to a rest or a crash.
type TaskFlowRun struct {
	Op          string           `json:"op"`
	Trace       []TaskFlowChange `json:"trace"`
	Calls       []TaskFlowCall   `json:"calls"`
	Flow        string           `json:"flow"`
	Raised      []string         `json:"raised"` // nil if nothing was
	RaisedStale []string         `json:"raised_stale,omitempty"`
	Crashed     bool             `json:"crashed,omitempty"`
}

// A TaskFlowChange is one notification: of the flow ["F", old, new], of a task
// ["T", name, old, new] or of a retry ["R", name, old, new].
type TaskFlowChange []string

// Atom returns the name of the atom that changed, "" for the flow.
func (c TaskFlowChange) Atom() string {
	if c[0] == "F" {
		return ""
	}
	return c[1]
}

// To returns the state that was entered.
func (c TaskFlowChange) To() string { return c[len(c)-1] }

// A TaskFlowCall is one call of scripted code.
type TaskFlowCall struct {
	Kind         string                     `json:"c"`
	Atom         string                     `json:"atom"`
	N            int                        `json:"n,omitempty"`
	Args         map[string]json.RawMessage `json:"args,omitempty"`
	Result       json.RawMessage            `json:"result,omitempty"`
	History      json.RawMessage            `json:"history,omitempty"`
	FlowFailures map[string]string          `json:"flow_failures,omitempty"`
	Stale        []string                   `json:"stale,omitempty"`
	Decision     string                     `json:"decision,omitempty"`
}

// TaskFlowFinal is the stored state after the last run.
type TaskFlowFinal struct {
	Flow    string                       `json:"flow"`
	Atoms   map[string]TaskFlowAtom      `json:"atoms"`
	Symbols map[string][]json.RawMessage `json:"symbols"`
}

// A TaskFlowAtom is the final record of an atom.
type TaskFlowAtom struct {
	Kind          string          `json:"kind"`
	State         string          `json:"state"`
	Intention     string          `json:"intention"`
	Result        json.RawMessage `json:"result,omitempty"`
	History       json.RawMessage `json:"history,omitempty"`
	Failure       string          `json:"failure,omitempty"`
	RevertFailure string          `json:"revert_failure,omitempty"`
	RevertResult  json.RawMessage `json:"revert_result,omitempty"`
}

// TaskFlow returns the records of a file that [ForFiles] names.
func TaskFlow(tb testing.TB, file string) []*TaskFlowRecord {
	tb.Helper()
	return lines[TaskFlowRecord](tb, file+".jsonl")
}

// Index returns the position of each atom in a walk of the description.
func (c *TaskFlowCase) Index() map[string]int {
	index := map[string]int{}
	enter := func(name string) {
		if _, known := index[name]; !known {
			index[name] = len(index)
		}
	}
	var walk func(n *TaskFlowNode)
	walk = func(n *TaskFlowNode) {
		if n.Kind == "task" {
			enter(n.Name)
		}
		if n.Retry != nil {
			enter(n.Retry.Name)
		}
		for i := range n.Children {
			walk(&n.Children[i])
		}
	}
	walk(&c.Flow)
	return index
}

// Canonical returns the trace with neighboring changes to PENDING, and to IGNORE, in the order of the atoms' index.
// TaskFlow writes these together, in no defined order.
func (c *TaskFlowCase) Canonical(trace []TaskFlowChange) []TaskFlowChange {
	index, out := c.Index(), slices.Clone(trace)
	for i := 0; i < len(out); {
		to, end := out[i].To(), i+1
		if out[i].Atom() != "" && (to == "PENDING" || to == "IGNORE") {
			for end < len(out) && out[end].Atom() != "" && out[end].To() == to {
				end++
			}
			slices.SortStableFunc(out[i:end], func(a, b TaskFlowChange) int { return index[a.Atom()] - index[b.Atom()] })
		}
		i = end
	}
	return out
}
