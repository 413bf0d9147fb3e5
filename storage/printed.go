package storage

import (
	"fmt"

	"github.com/ebbflow/ebb/states"
)

// The records that a program is likely to print have a short text. It has no values, because the store does not know
// which of them are secret, and no token, because a token gives access.

// String returns the run's id, its flow, its state, and what its state does not say about its end.
func (r Run) String() string {
	text := fmt.Sprintf("run %q of flow %q: %v", r.ID, r.Flow, r.State)
	switch r.Outcome {
	case TimedOut:
		text += ", timed out"
	case Cancelled:
		text += ", cancelled"
	case Continued:
		text += ", continued by another run"
	default:
	}
	switch {
	case r.NeedsPerson():
		return text + ", needs a person"
	case r.Undo == UndonePart:
		return text + ", partly undone"
	}
	return text
}

// String returns the path of the atom, and what became of it.
func (a Atom) String() string { return fmt.Sprintf("atom %q: %v", a.Path, a.Status()) }

// String returns the job's id, its flow and its state.
func (j Job) String() string { return fmt.Sprintf("job %q of flow %q: %v", j.ID, j.Flow, j.State) }

// String returns the run and the atom that wait for the token.
func (t Token) String() string { return fmt.Sprintf("token of atom %q of run %q", t.Path, t.Run) }

// String returns the message's number, its name and the run that receives it.
func (l Message) String() string { return fmt.Sprintf("message %d %q to run %q", l.N, l.Name, l.Run) }

// String returns the line's number, its subject, what happened to it, and why.
func (e Entry) String() string {
	text := fmt.Sprintf("%d: ", e.Seq)
	switch e.Kind {
	case EntryFlow:
		text += fmt.Sprintf("run: %v → %v", states.Flow(e.From), states.Flow(e.To))
	case EntryAtom:
		text += fmt.Sprintf("atom %q: %v → %v", e.Path, states.Task(e.From), states.Task(e.To))
	case EntryStays, EntryMayStay:
		text += fmt.Sprintf("atom %q: %v", e.Path, e.Status())
	case EntryEvent:
		text += fmt.Sprintf("event %d %s", e.Number, e.Type)
	case EntryCommand:
		text += "command " + e.Type
	}
	if e.Failure != nil {
		text += ": " + e.Failure.Error()
	}
	return text
}

// String returns the size of the value and where it is.
func (h Held) String() string {
	if h.Ref > 0 {
		return fmt.Sprintf("payload %d of %d bytes", h.Ref, len(h.Data))
	}
	return fmt.Sprintf("value of %d bytes", len(h.Data))
}
