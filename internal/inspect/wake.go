package inspect

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Wake is something that would let a run that waits continue. By says what; fields that another By uses are zero.
type Wake struct {
	By      string    `json:"by"`                // "owner", "server", "timer", "token", "event", "command" or "other"
	At      time.Time `json:"at,omitzero"`       // "timer": when it fires, in UTC
	Path    string    `json:"path,omitempty"`    // path of the atom that would continue; "" is the run
	Token   string    `json:"token,omitempty"`   // "token": the token to complete
	Event   string    `json:"event,omitempty"`   // "event": name of the signal or event
	Command string    `json:"command,omitempty"` // the ebb command that an operator would call; "other" is for all runs
}

// Wakes lists what would let the run continue, given what it waits for.
func (w *Diagnosis) Wakes(waits []Wait) []Wake { //nolint:gocognit // one list, in its order
	id := visible.Word(w.Run.ID)
	if w.Run.State.Ended() {
		if w.Run.Undo != storage.UndoFailed {
			return nil
		}
		return w.Mends(waits)
	}
	var list []Wake
	if w.Alive() || w.Server != nil {
		by := "owner"
		if !w.Alive() {
			by = "server"
		}
		list = append(list, Wake{By: by})
		for _, one := range waits {
			if !one.Due.IsZero() && one.Token == "" {
				list = append(list, Wake{By: "timer", At: one.Due, Path: one.Path})
			}
		}
	}
	for _, event := range w.lacks() {
		list = append(list, Wake{By: "event", Event: event, Command: "ebb signal " + id + " " + visible.Word(event)})
	}
	for _, one := range waits {
		if one.Token != "" {
			list = append(list, Wake{
				By: "token", Path: one.Path, Token: one.Token, Command: "ebb complete " + one.Token + w.with("--result", one.Path),
			})
		}
	}
	if mends := w.Mends(waits); len(mends) > 0 && w.Run.State == states.FlowSuspended {
		return append(list, mends...)
	}
	for _, one := range waits {
		if one.Kind == WaitsForSignal && !w.sent(one.Name) {
			list = append(list, Wake{
				By: "event", Path: one.Path, Event: one.Name,
				Command: "ebb signal " + id + " " + visible.Word(one.Name) + w.with("--data", one.Path),
			})
		}
	}
	// The flow of a run without a definition is in a Go program, which runs it again unless it is suspended.
	held := w.Run.Hold || w.Run.State == states.FlowSuspended
	for i := range w.Messages {
		held = held && w.Messages[i].Kind != backend.MessageResume
	}
	refused := w.Refusal != nil && w.Refusal.Alive
	if !w.Alive() && w.Server == nil && !refused && (w.Run.Definition != "" || held) {
		list = append(list, Wake{By: "command", Command: "ebb resume " + id})
	}
	for _, one := range waits {
		if way := one.way(); way != "" {
			list = append(list, Wake{By: "other", Command: way})
		}
	}
	return list
}

// sent reports whether a signal lies in the inbox.
func (w *Diagnosis) sent(signal string) bool {
	return slices.ContainsFunc(w.Messages, func(m storage.Message) bool {
		return m.Kind == grow.MessageSignal && m.Name == signal
	})
}

// with returns the flag of a command with a value that ends the atom; "" if null does, or if its type is not known.
func (w *Diagnosis) with(flag, path string) string {
	if w.Fits[path] == "" {
		return ""
	}
	return " " + flag + " " + visible.Word(w.Fits[path])
}

// lacks lists the names of the events that the run's language waits for.
func (w *Diagnosis) lacks() []string {
	var names []string
	if w.Machine == nil {
		return nil
	}
	for _, t := range w.Machine.Transitions {
		for _, g := range t.Groups {
			for _, name := range g.Events {
				if g.Has == "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// Mends lists the commands with which an operator can continue a run whose revert failed.
func (w *Diagnosis) Mends(waits []Wait) []Wake {
	var list []Wake
	for _, one := range waits {
		if one.Kind == WaitsForMending {
			retry, skip := MendCommands(&w.Run, one.Path, w.Alive())
			for _, command := range []string{retry, skip} {
				list = append(list, Wake{By: "command", Path: one.Path, Command: command})
			}
		}
	}
	return list
}

// MendCommands returns the commands that retry the revert of an atom, or count it as undone. If the path is "", retry
// is for all reverts that failed, and skip is "". Alive says that a process drives the run.
func MendCommands(run *storage.Run, path string, alive bool) (retry, skip string) {
	words := " " + visible.Word(run.ID)
	if path != "" {
		words += " " + visible.Word(path)
	}
	if run.Definition == "" && !alive { // the flow is in a Go program, which applies the command when it runs
		words += " --no-wait"
	}
	retry = "ebb retry --revert" + words
	if path != "" {
		skip = "ebb skip" + words
	}
	return retry, skip
}
