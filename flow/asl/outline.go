package asl

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// A StateInfo describes a state in an outline or a diagram.
type StateInfo struct {
	Name   string       // name in the definition
	Type   string       // Pass, Task, Choice, Wait, Succeed, Fail, Parallel or Map
	In     string       // name of the Parallel or Map state that contains it; "" at the top level
	Branch int          // index of the branch of In that contains it, from 0
	Start  bool         // true if its level, such as a branch of a Parallel state, starts with this state
	End    bool         // true if its level may end with this state
	Next   []Transition // transitions to other states
	Errors []string     // names of the errors that its Retry and Catch list, sorted, each once
	Task   string       // resource of a Task state
	Revert string       // of a Task state: resource of the task that reverts it; "" if there is none
	// Starts is, for a Task state, the name of the machine whose execution it starts; "" if the definition does not
	// name it.
	Starts string
	// Distributed is true for a Map state whose items run as separate executions.
	Distributed bool

	TaskAt, RevertAt int // offsets of Task and Revert in the definition's text, see [Position]
}

// A Transition leads from a state to another state of the same level.
type Transition struct {
	To    string // name of the next state
	Label string // condition of the transition: "$.total > 100", "default", "Catch States.ALL"; "" for Next
	Catch bool   // true if a catcher takes it
}

// Handlers returns the errors that the retriers and the catchers of a state name, in order.
func (m *Machine) Handlers(state string) (retries, catches [][]string) {
	s := m.machine.States[state]
	if s == nil {
		return nil, nil
	}
	for _, r := range s.Retry {
		retries = append(retries, r.Errors)
	}
	for _, c := range s.Catch {
		catches = append(catches, c.Errors)
	}
	return retries, catches
}

// VariableReferences returns the variables that each state reads, sorted, by the name of the state. States that read
// none are not in it.
func (m *Machine) VariableReferences() map[string][]string {
	all := map[string][]string{}
	for name, s := range m.machine.States {
		if len(s.Reads) > 0 {
			all[name] = slices.Sorted(slices.Values(s.Reads))
		}
	}
	return all
}

// States returns the states in the order of the definition. The states of a branch follow the state that contains
// them.
func (m *Machine) States() []StateInfo { return outline(nil, m.machine.Top, "", 0) }

func outline(out []StateInfo, l *syntax.Level, in string, branch int) []StateInfo {
	for _, s := range l.States {
		info := StateInfo{
			Name: s.Name, Type: s.Kind.String(), In: in, Branch: branch,
			Start: s == l.Start, End: s.Ends, Next: transitions(s),
		}
		if s.Task != nil {
			info.Task, info.TaskAt, info.Starts = s.Task.URI, s.Task.At, s.Task.Machine
		}
		if s.Revert != nil {
			info.Revert, info.RevertAt = s.Revert.URI, s.Revert.At
		}
		info.Distributed = s.Items != nil && s.Items.Distributed != nil
		for _, r := range s.Retry {
			info.Errors = append(info.Errors, r.Errors...)
		}
		for _, k := range s.Catch {
			info.Errors = append(info.Errors, k.Errors...)
		}
		slices.Sort(info.Errors)
		info.Errors = slices.Compact(info.Errors)
		out = append(out, info)
		for i, inner := range s.Within() {
			out = outline(out, inner, s.Name, i)
		}
	}
	return out
}

func transitions(s *syntax.State) []Transition {
	var out []Transition
	for i := range s.Choices {
		out = append(out, Transition{To: s.Choices[i].Out.Next.Name, Label: cmp.Or(s.Choices[i].Text, "rule "+
			strconv.Itoa(i+1))})
	}
	switch {
	case s.Out.Next == nil:
	case s.Kind == syntax.ChoiceState:
		out = append(out, Transition{To: s.Out.Next.Name, Label: "default"})
	default:
		out = append(out, Transition{To: s.Out.Next.Name})
	}
	for i := range s.Catch {
		out = append(out, Transition{
			To: s.Catch[i].Out.Next.Name, Label: "Catch " + strings.Join(s.Catch[i].Errors, ", "), Catch: true,
		})
	}
	return out
}
