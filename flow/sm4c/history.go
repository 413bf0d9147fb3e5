package sm4c

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jq"

	"github.com/ebbflow/ebb/atom"
)

// event adds a line to the run's history.
func (w *interpreter) event(typ, name string, details map[string]any) {
	e := flow.Event{Type: typ, Name: name}
	if len(details) > 0 {
		if text, err := jq.Encode(details, maxEventDetails); err == nil {
			e.Details = atom.FromJSON(text)
		}
	}
	w.growth.Events = append(w.growth.Events, e)
}

// clip shortens a message for the history.
func clip(message string) string {
	if len(message) <= maxText {
		return message
	}
	return message[:maxText] + "…"
}
