package sm4c

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/sm4c/internal/interpreter"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// A FunctionInfo describes a function that tasks implement.
type FunctionInfo struct {
	Name    string   // name in the definition
	Type    string   // rest, rpc or task
	Task    string   // name of the task, see engine.Tasks
	At      int      // offset of its operation in the text, see [Position]; -1 if it was loaded
	Callers []string // paths of the actions that call it, or that it undoes, without numbers: Book/enter/parallel/flight
}

// Functions returns the functions of the definition except expression functions, in the order of the definition.
func (m *Machine) Functions() []FunctionInfo {
	var all []FunctionInfo
	for _, f := range m.machine.Functions {
		if f.Formula == nil {
			all = append(all, FunctionInfo{
				Name: f.Name, Type: f.Kind.String(), Task: f.Task(), At: f.At, Callers: m.callers(f),
			})
		}
	}
	return all
}

func (m *Machine) callers(f *syntax.Function) []string {
	var paths []string
	for _, a := range m.machine.Actions {
		if a.Function == f || a.Revert != nil && a.Revert.Function == f {
			paths = append(paths, a.Path())
		}
	}
	return paths
}

// Subflows returns the names of the flows that the machine calls, each once.
func (m *Machine) Subflows() []string {
	var names []string
	for _, a := range m.machine.Actions {
		if a.Kind == syntax.InvokeSubflow && !slices.Contains(names, a.Subflow) {
			names = append(names, a.Subflow)
		}
	}
	return names
}

// Awaits returns the names of the events that transitions await, each once.
func (m *Machine) Awaits() []string {
	var names []string
	for _, d := range m.machine.Awaited {
		if !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// Hears reports whether a signal with that name could be an event that some transition awaits, by the name or the
// type of the event. A run ignores other signals.
func (m *Machine) Hears(signal string) bool {
	return interpreter.Hears(m.machine, signal)
}

// A StateInfo describes a state in an outline or a diagram.
type StateInfo struct {
	Name     string       // name in the definition
	Start    bool         // true if a run starts in this state
	Next     []Transition // transitions; none if the machine ends in this state
	Calls    []string     // names of the functions and subflows that it and its transitions call
	Undoable bool         // true if a failure of the machine undoes one of these calls
	Waits    bool         // true if the machine may wait in this state for events or a time
}

// A Transition leads from one state to another or, if the state is not left, to itself.
type Transition struct {
	To    string // name of the next state
	Label string // condition of the transition, such as "paid or refused" or "after PT5M"; "" if there is none
}

// States returns the states in the order of the definition.
func (m *Machine) States() []StateInfo {
	all := make([]StateInfo, 0, len(m.machine.States))
	for _, s := range m.machine.States {
		info := StateInfo{Name: s.Name, Start: s == m.machine.Start}
		for _, t := range s.Transitions {
			if t.Trigger == syntax.Inert {
				continue
			}
			info.Waits = info.Waits || t.Trigger == syntax.Events || t.Trigger == syntax.Timer
			to := s
			if t.Next != nil {
				to = t.Next
			}
			info.Next = append(info.Next, Transition{To: to.Name, Label: t.Label})
		}
		for _, e := range s.Effects() {
			outline(e.Action, &info)
		}
		all = append(all, info)
	}
	return all
}

func outline(a *syntax.Action, info *StateInfo) {
	switch {
	case a.Function != nil && a.Function.Formula == nil:
		info.Calls = append(info.Calls, a.Function.Name)
	case a.Kind == syntax.InvokeSubflow:
		info.Calls = append(info.Calls, a.Subflow)
	}
	info.Undoable = info.Undoable || a.Revert.Reverts()
	for _, child := range a.Children {
		outline(child, info)
	}
}

// StateOf returns the state that a node of a run belongs to, by the node's path; "" if it belongs to none.
func (m *Machine) StateOf(path string) string {
	first, _, _ := strings.Cut(path, "/")
	if name := nodepath.Unescape(first); m.machine.ByName[name] != nil {
		return name
	}
	return ""
}
