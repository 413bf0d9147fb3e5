package asl

import (
	"strconv"
	"strings"
)

// A StateInfo is what there is to show of a state in an outline or a picture.
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
func (m *Machine) States() []StateInfo { return m.top.outline(nil, 0) }

func (l *level) outline(out []StateInfo, branch int) []StateInfo {
	for _, name := range l.names {
		s := l.here[name]
		info := StateInfo{
			Name: name, Type: s.kind.String(), Branch: branch,
			Start: s == l.start, End: s.ends, Next: s.transitions(),
		}
		if l.owner != nil {
			info.In = l.owner.name
		}
		if s.task != nil {
			info.Task, info.TaskAt, info.Starts = s.task.uri, s.task.at, s.task.machine
		}
		if s.revert != nil {
			info.Revert, info.RevertAt = s.revert.uri, s.revert.at
		}
		out = append(out, info)
		for i, inner := range s.branches {
			out = inner.outline(out, i)
		}
		if s.items != nil {
			out = s.items.processor.outline(out, 0)
		}
	}
	return out
}

func (s *state) transitions() []Transition {
	var out []Transition
	for i := range s.choices {
		out = append(out, Transition{s.choices[i].out.next.name, "rule " + strconv.Itoa(i+1)})
	}
	switch {
	case s.out.next == nil:
	case s.kind == choiceState:
		out = append(out, Transition{s.out.next.name, "Default"})
	default:
		out = append(out, Transition{To: s.out.next.name})
	}
	for i := range s.catch {
		out = append(out, Transition{s.catch[i].out.next.name, "Catch " + strings.Join(s.catch[i].errors, ", ")})
	}
	return out
}
