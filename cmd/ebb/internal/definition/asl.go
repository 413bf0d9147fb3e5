package definition

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/storage"
)

// An aslMachine is a machine in the Amazon States Language.
type aslMachine struct {
	*asl.Machine

	profile asl.Profile
	text    []byte
}

func (m *aslMachine) Stored() (language string, text []byte) { return languageUnder(m.profile), m.text }

func (m *aslMachine) Problems() flow.Diagnostics { return m.Machine.Warnings() }

// Warnings returns none, so that the engine logs none: commands report [Machine.Problems] themselves.
func (m *aslMachine) Warnings() flow.Diagnostics { return nil }

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
	return "the Amazon States Language has no signals (ebb complete ends what waits for the holder of its token)"
}

func (m *aslMachine) Waits(*storage.Run) *grow.Waiting { return nil }

func (m *aslMachine) Watched(observe func(grow.Part)) Machine {
	return &aslMachine{m.Observed(observe), m.profile, m.text}
}

func (m *aslMachine) Undoes() bool {
	return slices.ContainsFunc(m.States(), func(s asl.StateInfo) bool { return s.Revert != "" })
}

func (m *aslMachine) Errors(state string) []string {
	for _, s := range m.States() {
		if s.Name == state {
			return slices.DeleteFunc(s.Errors, func(name string) bool { return slices.Contains(notThrown, name) })
		}
	}
	return nil
}

// notThrown are names of errors that no task raises: they stand for other errors, or for timeouts.
var notThrown = []string{"States.ALL", "States.TaskFailed", "States.Timeout"}

func (m *aslMachine) Names(path, task string) []string {
	return []string{nodepath.State(nodepath.Last(path)), task}
}

func (m *aslMachine) Uses() []TaskUse {
	var all []TaskUse
	for _, state := range m.States() {
		for _, task := range []struct {
			name string
			at   int
		}{{state.Task, state.TaskAt}, {state.Revert, state.RevertAt}} {
			if task.name != "" {
				all = append(all, TaskUse{
					Task: task.name, Where: fmt.Sprintf("state %q", state.Name),
					Callers: []string{nodepath.Escape(state.Name)}, At: task.at,
				})
			}
		}
	}
	return all
}

// languageUnder returns the name in stored definitions of the language under a profile.
func languageUnder(p asl.Profile) string {
	if p == asl.AWS {
		return ASL
	}
	return ASL + "/" + p.String()
}

// profileOf returns the profile of a stored definition's language; false if the language is unknown.
func profileOf(language string) (asl.Profile, bool) {
	for _, p := range asl.Profiles() {
		if language == languageUnder(p) {
			return p, true
		}
	}
	return 0, false
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

// Outline implements [Machine].
func (m *aslMachine) Outline() []string {
	var names []string
	for _, s := range m.States() {
		names = append(names, s.Name)
	}
	return names
}
