package states

import (
	"fmt"
	"strings"
)

// Reset is the name of the event that returns a state to PENDING as if the atom or flow had never run. It is the one
// event that may leave nearly any state. So only CheckReset allows it, and Check does not: no state becomes PENDING by
// accident.
const Reset = "reset"

// A TransitionError says that a change of state is not legal.
type TransitionError struct {
	Kind  string   // kind of the state: "flow", "task", "retry", "job" or "engine"
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

// Check returns nil if any event but Reset may lead from state from to state to, and otherwise a *TransitionError. A
// pair for which Ignored is true is not legal: a caller that accepts it calls Ignored first. A legal pair costs a few
// nanoseconds and no allocation.
func Check[S Kind](from, to S) error {
	t := from.table()
	if t.legal.has(uint8(from), uint8(to)) {
		return nil
	}
	return refuse(t, &t.legal, uint8(from), uint8(to))
}

// CheckReset is Check for the event Reset. A reset of a PENDING state is legal and changes nothing, so that a reset may
// visit all atoms alike. Jobs and engines have no reset.
func CheckReset[S Kind](from, to S) error {
	t := from.table()
	if t.reset.has(uint8(from), uint8(to)) {
		return nil
	}
	return refuse(t, &t.reset, uint8(from), uint8(to))
}

// Ignored reports whether TaskFlow ignores the pair: no write, no notification, no error. Flows and jobs ignore a state
// that is entered twice. Flows also ignore a suspension or resumption that comes too early or too late. For the other
// kinds, it is false. A pair is never both ignored and legal.
func Ignored[S Kind](from, to S) bool {
	return from.table().ignored.has(uint8(from), uint8(to))
}

// refuse returns the error with the legal states. Only an illegal pair has this cost.
func refuse(t *table, g *grid, from, to uint8) error {
	return &TransitionError{
		Kind:  t.kind,
		From:  t.text(from),
		To:    t.text(to),
		Reset: g == &t.reset,
		Legal: t.row(g, from),
	}
}
