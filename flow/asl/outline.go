package asl

import (
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// A StateInfo describes a state in an outline or a picture.
type StateInfo struct {
	Name   string
	Type   string // Pass, Task, Choice, Wait, Succeed, Fail, Parallel or Map
	In     string // the Parallel or Map state it belongs to; "" at the top
	Branch int    // which branch of In, from 0
	Start  bool   // its level begins with it
	End    bool   // its level may end with it
	Next   []Transition
	Task   string // of a Task state: the resource
	Revert string // of a Task state: the resource that undoes it; "" when it cannot be undone
	Starts string // of a Task state: the name of the machine that it starts an execution of, if the definition says it

	TaskAt, RevertAt int // where these stand in the definition's text, see [Position]
}

// A Transition leads from a state to another of the same level.
type Transition struct {
	To    string
	Label string // why it is taken: "rule 1", "Default", "Catch States.ALL"; "" for Next
}

// States returns the states in the order of the definition, those of a branch
// behind the state that they belong to.
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
		out = append(out, Transition{s.Choices[i].Out.Next.Name, "rule " + strconv.Itoa(i+1)})
	}
	switch {
	case s.Out.Next == nil:
	case s.Kind == syntax.ChoiceState:
		out = append(out, Transition{s.Out.Next.Name, "Default"})
	default:
		out = append(out, Transition{To: s.Out.Next.Name})
	}
	for i := range s.Catch {
		out = append(out, Transition{s.Catch[i].Out.Next.Name, "Catch " + strings.Join(s.Catch[i].Errors, ", ")})
	}
	return out
}
