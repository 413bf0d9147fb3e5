package definition

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/internal/spelling"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An sm4cMachine is a machine in SM4C.
type sm4cMachine struct{ *sm4c.Machine }

func (m *sm4cMachine) Stored() (language string, text []byte) { return SM4C, m.Text() }

func (m *sm4cMachine) Problems() flow.Diagnostics { return m.Machine.Warnings() }

// Warnings returns none, so that the engine logs none: commands report [Machine.Problems] themselves.
func (m *sm4cMachine) Warnings() flow.Diagnostics { return nil }

func (m *sm4cMachine) Watched(observe func(grow.Part)) Machine {
	return &sm4cMachine{m.Observed(observe)}
}

func (m *sm4cMachine) Undoes() bool {
	return slices.ContainsFunc(m.States(), func(s sm4c.StateInfo) bool { return s.Undoable })
}

// Errors returns none: error handlers are conditions.
func (m *sm4cMachine) Errors(string) []string { return nil }

// Names returns the name of the action, its state, the functions that call the task, and the task.
func (m *sm4cMachine) Names(path, task string) []string {
	names := []string{nodepath.State(nodepath.Last(path))}
	if state := m.StateOf(path); state != "" {
		names = append(names, state)
	}
	for _, f := range m.Functions() {
		if f.Task == task {
			names = append(names, f.Name)
		}
	}
	return append(names, task)
}

func (m *sm4cMachine) Uses() []TaskUse {
	var all []TaskUse
	for _, f := range m.Functions() {
		all = append(all, TaskUse{
			Task: f.Task, Where: fmt.Sprintf("function %q", f.Name), Callers: f.Callers, At: f.At,
		})
	}
	return all
}

func (m *sm4cMachine) Unheard(signal string) string {
	if m.Hears(signal) {
		return ""
	}
	known := m.Awaits()
	if len(known) == 0 {
		return "it waits for no events"
	}
	if near := spelling.Nearest(signal, known); near != "" {
		return fmt.Sprintf("it knows no such event (did you mean %s?)", near)
	}
	return "it knows no such event (it waits for " + strings.Join(known, ", ") + ")"
}

// Waits returns nil if it cannot read the memory of the run.
func (m *sm4cMachine) Waits(run *storage.Run) *grow.Waiting {
	if run.State.Ended() || len(run.Memory) == 0 {
		return nil
	}
	w, err := m.Why(run.Memory)
	if err != nil {
		return nil
	}
	return w
}

func (m *sm4cMachine) Picture(title string) draw.View {
	v := emptyPicture(title)
	for _, s := range m.States() {
		node := draw.Node{ID: stateID(s.Name), Label: s.Name, Kind: draw.Compute}
		switch {
		case s.Undoable:
			node.Kind = draw.Undoable
		case len(s.Calls) > 0:
			node.Kind = draw.Task
		case s.Waits:
			node.Kind = draw.Wait
		}
		v.Nodes = append(v.Nodes, node)
		if s.Start {
			v.Edges = append(v.Edges, draw.Edge{From: startID, To: node.ID})
		}
		for _, next := range s.Next {
			v.Edges = append(v.Edges, draw.Edge{From: node.ID, To: stateID(next.To), Label: next.Label, Maybe: next.Label != ""})
		}
		if len(s.Next) == 0 {
			v.Edges = append(v.Edges, draw.Edge{From: node.ID, To: endID})
		}
	}
	return v
}

// Became follows the states that were entered: the machine is in the last one. If work
// of a state was undone, that is the outcome of the state.
func (m *sm4cMachine) Became(picture draw.View, history iter.Seq2[storage.Entry, error]) (draw.View, error) {
	last := map[string]string{}
	in, taken, at := "", map[draw.Edge]bool{}, places{}
	is := func(state string, s states.Task) {
		if state != "" {
			last[stateID(state)] = s.String()
		}
	}
	for e, err := range history {
		if err != nil {
			return picture, err
		}
		switch {
		case e.Kind == storage.EntryEvent && e.Type == "StateEntered":
			is(in, states.TaskSuccess)
			from := startID
			if in != "" {
				from = stateID(in)
			}
			take(picture, taken, from, stateID(e.Path))
			in = e.Path
			is(in, states.TaskRunning)
		case e.Kind == storage.EntryEvent && e.Type == "MachineCompleted":
			is(in, states.TaskSuccess)
		case e.Kind == storage.EntryEvent && (e.Type == "MachineFailed" || e.Type == "MachineTimedOut" ||
			e.Type == "MachineStopped"):
			is(in, states.TaskFailure)
		case e.Kind == storage.EntryAtom && e.Path != flow.GrowingPath:
			at.add(stateID(m.StateOf(e.Path)), e.Path)
			if to := states.Task(e.To); to == states.TaskReverting || to == states.TaskReverted ||
				to == states.TaskRevertFailure {
				is(m.StateOf(e.Path), to)
			}
		case e.Kind == storage.EntryStays || e.Kind == storage.EntryMayStay:
			if state := m.StateOf(e.Path); state != "" {
				last[stateID(state)] = string(e.Status())
			}
		}
	}
	picture = picture.Colored(last).Along(taken)
	at.in(picture.Nodes) // Colored has copied them
	return picture, nil
}

// Outline implements [Machine].
func (m *sm4cMachine) Outline() []string {
	var names []string
	for _, s := range m.States() {
		names = append(names, s.Name)
	}
	return names
}

// Handlers returns none: transitions handle errors.
func (*sm4cMachine) Handlers(string) (retries, catches [][]string) { return nil, nil }
