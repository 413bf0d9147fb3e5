package states

import (
	"fmt"
	"strings"
)

// Reset is the name of the event that takes what has run, or failed, back to PENDING as if it had never run. It is the
// one event that may leave nearly any state. So Check does not allow it, and CheckReset does: nothing becomes PENDING
// by accident.
const Reset = "reset"

// A TransitionError says that a change of state is not legal.
type TransitionError struct {
	Kind  string   // what has the states: "flow", "task", "retry", "job" or "engine"
	From  string   // text of the state before
	To    string   // text of the state after
	Reset bool     // CheckReset returned the error, not Check
	Legal []string // states that are legal after From, in numerical order
}

// Error names both states and lists what is legal from the first one.
func (e *TransitionError) Error() string {
	verb, by := "go", ""
	if e.Reset {
		verb, by = "be reset", " by reset"
	}
	legal := "nothing"
	if len(e.Legal) > 0 {
		legal = strings.Join(e.Legal, ", ")
	}
	return fmt.Sprintf("states: %s cannot %s from %s to %s (legal%s from %s: %s)",
		e.Kind, verb, e.From, e.To, by, e.From, legal)
}

// Check returns nil when a thing in state from may enter state to by any event
// but Reset, else a *TransitionError. A pair for which Ignored is true is not
// legal: a caller that wants it to pass silently asks Ignored first. A legal pair costs a
// few nanoseconds and no allocation.
func Check[S Kind](from, to S) error {
	t := from.table()
	if t.legal.has(uint8(from), uint8(to)) {
		return nil
	}
	return refuse(t, &t.legal, uint8(from), uint8(to))
}

// CheckReset is Check for the event Reset. A reset of what is PENDING already is
// legal and changes nothing, so that a reset may walk over every atom alike.
// Jobs and engines have no reset.
func CheckReset[S Kind](from, to S) error {
	t := from.table()
	if t.reset.has(uint8(from), uint8(to)) {
		return nil
	}
	return refuse(t, &t.reset, uint8(from), uint8(to))
}

// Ignored reports whether TaskFlow lets the pair pass without effect: no write,
// no notification, no error. Flows and jobs ignore a state entered twice; flows
// ignore also a suspension or resumption that comes too early or too late. It
// is false for the other kinds. A pair is never both ignored and legal.
func Ignored[S Kind](from, to S) bool {
	return from.table().ignored.has(uint8(from), uint8(to))
}

// refuse says what would have been legal. Only an illegal pair pays for that.
func refuse(t *table, g *grid, from, to uint8) error {
	return &TransitionError{
		Kind:  t.kind,
		From:  t.text(from),
		To:    t.text(to),
		Reset: g == &t.reset,
		Legal: t.row(g, from),
	}
}
