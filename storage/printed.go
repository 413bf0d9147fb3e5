package storage

import "fmt"

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
