package inspect

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Wake is something that would move the run on.
type Wake struct {
	By      string    `json:"by"`                // "owner", "timer", "token", "event" or "command"
	At      time.Time `json:"at,omitzero"`       // timer: when
	Path    string    `json:"path,omitempty"`    // of the atom it is about
	Token   string    `json:"token,omitempty"`   // token: which
	Event   string    `json:"event,omitempty"`   // event: its name
	Command string    `json:"command,omitempty"` // what to call
}

// Wakes lists what would move the run on.
func (w *Diagnosis) Wakes(waits []Wait) []Wake {
	id := w.Run.ID
	if w.Run.State.Ended() {
		if w.Run.Undo != storage.UndoFailed {
			return nil
		}
		return w.Mends(waits)
	}
	var list []Wake
	if w.Alive() {
		list = append(list, Wake{By: "owner"})
		for _, one := range waits {
			if !one.Due.IsZero() && one.Token == "" {
				list = append(list, Wake{By: "timer", At: one.Due, Path: one.Path})
			}
		}
	}
	for _, event := range w.lacks() {
		list = append(list, Wake{By: "event", Event: event, Command: "ebb signal " + id + " " + event})
	}
	for _, one := range waits {
		if one.Token != "" {
			list = append(list, Wake{By: "token", Path: one.Path, Token: one.Token, Command: "ebb complete " + one.Token})
		}
	}
	if mends := w.Mends(waits); len(mends) > 0 && w.Run.State == states.FlowSuspended {
		return append(list, mends...)
	}
	if !w.Alive() {
		list = append(list, Wake{By: "command", Command: "ebb resume " + id})
	}
	return list
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

// Mends lists the ways to go on with what could not be undone.
func (w *Diagnosis) Mends(waits []Wait) []Wake {
	var list []Wake
	for _, one := range waits {
		if one.Kind == WaitsForMending {
			list = append(list,
				Wake{By: "command", Path: one.Path, Command: "ebb retry --revert " + w.Run.ID + " " + one.Path},
				Wake{By: "command", Path: one.Path, Command: "ebb skip " + w.Run.ID + " " + one.Path})
		}
	}
	return list
}
