package sm4c

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A FunctionInfo describes a function that a task calls.
type FunctionInfo struct {
	Name string
	Type string // rest or task
	Task string // what the registry of tasks is to know it by
	At   int    // where its operation stands in the text, see [Position]; -1 when it was loaded
}

// Functions returns the functions that are called, in the order of the
// definition: all but expressions.
func (m *Machine) Functions() []FunctionInfo {
	var all []FunctionInfo
	for _, f := range m.functions {
		if f.formula == nil {
			all = append(all, FunctionInfo{Name: f.name, Type: f.kind.String(), Task: f.task(), At: f.at})
		}
	}
	return all
}

// Subflows returns the names of the flows that the machine runs, each once.
func (m *Machine) Subflows() []string {
	var names []string
	for _, a := range m.actions {
		if a.kind == invokeSubflow && !slices.Contains(names, a.subflow) {
			names = append(names, a.subflow)
		}
	}
	return names
}

// Awaits returns the names of the events that some transition awaits, each once.
func (m *Machine) Awaits() []string {
	var names []string
	for _, d := range m.awaited {
		if !slices.Contains(names, d.name) {
			names = append(names, d.name)
		}
	}
	return names
}

// Hears reports whether a signal of that name could be an event that some transition
// awaits: by the name of the event, or by its type. Others are left out.
func (m *Machine) Hears(signal string) bool {
	e := m.signal(signal)
	return slices.ContainsFunc(m.awaited, func(d *event) bool { return m.means(d, e) })
}

// A StateInfo describes a state in an outline or a picture.
type StateInfo struct {
	Name     string
	Start    bool
	Next     []Transition // none: the machine ends here
	Calls    []string     // what its actions and those of its transitions call, by the names of functions and subflows
	Undoable bool         // some call of it is undone when the machine fails
	Waits    bool         // it may wait for events, or a time
}

// A Transition leads from a state to another, or, without an exit, to itself.
type Transition struct {
	To    string
	Label string // what it is taken for: "paid or refused", "after PT5M", a condition; "" for nothing
}

// States returns the states in the order of the definition.
func (m *Machine) States() []StateInfo {
	all := make([]StateInfo, 0, len(m.states))
	for _, s := range m.states {
		info := StateInfo{Name: s.name, Start: s == m.start}
		for _, t := range s.transitions {
			if t.trigger == inert {
				continue
			}
			info.Waits = info.Waits || t.trigger == events || t.trigger == timer
			to := s
			if t.next != nil {
				to = t.next
			}
			info.Next = append(info.Next, Transition{To: to.name, Label: t.label})
		}
		for _, e := range s.effects() {
			e.action.outline(&info)
		}
		all = append(all, info)
	}
	return all
}

func (a *action) outline(info *StateInfo) {
	switch {
	case a.function != nil && a.function.formula == nil:
		info.Calls = append(info.Calls, a.function.name)
	case a.kind == invokeSubflow:
		info.Calls = append(info.Calls, a.subflow)
	}
	info.Undoable = info.Undoable || a.revert != nil && !a.revert.pivot
	for _, child := range a.children {
		child.outline(info)
	}
}

// StateOf returns the state that a node of a run belongs to, by its path, or ""
// when it belongs to none.
func (m *Machine) StateOf(path string) string {
	first, _, _ := strings.Cut(path, "/")
	if name := unescape.Replace(first); m.byName[name] != nil {
		return name
	}
	return ""
}

// unescape takes back what segment does.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// labelOf returns what a transition is taken for.
func labelOf(n *node) string {
	switch triggerOf(n) {
	case condition:
		program, _, _ := inside(text(n, "condition"))
		return jsontext.Cut(program)
	case events:
		var all []string
		for _, g := range items(n, "eventGroups") {
			var names []string
			for _, e := range items(g, "events") {
				names = append(names, e.Str)
			}
			all = append(all, strings.Join(names, " or "))
		}
		return strings.Join(all, ", and ")
	case timer:
		return "after " + text(n, "timeout")
	default:
		return ""
	}
}
