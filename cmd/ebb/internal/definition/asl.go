package definition

import (
	"fmt"
	"iter"
	"strings"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An aslMachine is in the Amazon States Language.
type aslMachine struct {
	*asl.Machine

	profile asl.Profile
	text    []byte
}

func (m *aslMachine) Stored() (language string, text []byte) { return languageUnder(m.profile), m.text }

func (m *aslMachine) Problems() flow.Diagnostics { return m.Warnings() }

func (m *aslMachine) Subflows() []string {
	var names []string
	for _, state := range m.States() {
		if state.Starts != "" {
			names = append(names, state.Starts)
		}
	}
	return names
}

func (m *aslMachine) Unheard(string) string {
	return "the Amazon States Language has no signals (ebb complete ends what waits for whoever has its token)"
}

func (m *aslMachine) Waits(*storage.Run) *flow.Waiting { return nil }

func (m *aslMachine) Uses() []TaskUse {
	var all []TaskUse
	for _, state := range m.States() {
		for _, task := range []struct {
			name string
			at   int
		}{{state.Task, state.TaskAt}, {state.Revert, state.RevertAt}} {
			if task.name != "" {
				all = append(all, TaskUse{Task: task.name, Where: fmt.Sprintf("state %q", state.Name), State: state.Name, At: task.at})
			}
		}
	}
	return all
}

// languageUnder returns how stored definitions call the language of a profile.
func languageUnder(p asl.Profile) string {
	if p == asl.AWS {
		return ASL
	}
	return ASL + "/" + p.String()
}

// profileOf returns the profile of a stored definition's language, and whether
// the language is known.
func profileOf(language string) (asl.Profile, bool) {
	for _, p := range asl.Profiles() {
		if language == languageUnder(p) {
			return p, true
		}
	}
	return 0, false
}

// Became returns the latest outcome of each state, by the ID of its node.
func (m *aslMachine) Became(history iter.Seq2[storage.Entry, error]) (map[string]string, error) {
	last := map[string]string{}
	for e, err := range history {
		if err != nil {
			return nil, err
		}
		if e.Kind != storage.EntryAtom || e.Path == flow.GrowingPath {
			continue
		}
		if _, name := inspect.CutPath(e.Path); !strings.HasPrefix(name, "[") {
			last[stateID(withoutVisit(name))] = states.Task(e.To).String()
		}
	}
	return last, nil
}

// withoutVisit cuts the number of a visit off a node's name: Pay for Pay#2.
func withoutVisit(name string) string {
	i := strings.LastIndexByte(name, '#')
	if i < 1 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name
	}
	return name[:i]
}

// branchID returns the ID of the frame around a branch of a state; "" for what
// is at the top.
func branchID(state string, branch int) string {
	if state == "" {
		return ""
	}
	return fmt.Sprintf("%s[%d]", stateID(state), branch)
}

func (m *aslMachine) Picture(title string) draw.View {
	v := emptyPicture(title)
	list := m.States()
	within := make(map[string]string, len(list)) // the frame each state is in
	for i := range list {
		within[list[i].Name] = branchID(list[i].In, list[i].Branch)
	}
	framed := map[string]bool{"": true}
	for i := range list {
		info := &list[i]
		frame := within[info.Name]
		if !framed[frame] {
			framed[frame] = true
			v.Groups = append(v.Groups, draw.Group{ID: frame, Label: info.In, In: within[info.In]})
		}
		v.Nodes = append(v.Nodes, draw.Node{ID: stateID(info.Name), Label: info.Name, Kind: nodeKind(info), In: frame})
		if info.Start {
			from := startID
			if info.In != "" {
				from = stateID(info.In)
			}
			v.Edges = append(v.Edges, draw.Edge{From: from, To: stateID(info.Name)})
		}
		for _, next := range info.Next {
			v.Edges = append(v.Edges, draw.Edge{From: stateID(info.Name), To: stateID(next.To), Label: next.Label, Maybe: next.Label != ""})
		}
		if info.End && info.In == "" {
			v.Edges = append(v.Edges, draw.Edge{From: stateID(info.Name), To: endID})
		}
	}
	return v
}

func nodeKind(info *asl.StateInfo) draw.Kind {
	switch info.Type {
	case "Task":
		if info.Revert != "" {
			return draw.Undoable
		}
		return draw.Task
	case "Choice":
		return draw.Choice
	case "Wait":
		return draw.Wait
	default:
		return draw.Compute
	}
}
