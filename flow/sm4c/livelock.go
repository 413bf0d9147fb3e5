package sm4c

import (
	"crypto/sha256"
	"encoding/hex"
)

// A machine that takes transition after transition without a wait may have much to
// compute, or be in a livelock. It is in one when it is as it was before: then it will be
// so again and again. A machine that is never the same again is left to the limits of the
// engine, which are those of all languages.

// livelockSample is at which transitions a machine is compared with itself. A machine that
// repeats itself does so at some of these, too.
const livelockSample = 100

// rested notes that time has passed, or something came from outside.
func (m *memory) rested() { m.steps, m.mark, m.marked = 0, "", 0 }

// repeats reports whether the machine is as it was at an earlier transition since the last
// wait. It remembers one earlier moment, and a later one whenever the transitions have
// doubled: so it finds repetitions of every length (Brent's algorithm).
func (m *memory) repeats() (bool, *stateError) {
	if m.steps < MaxTransitions/2 || m.steps%livelockSample != 0 {
		return false, nil
	}
	now := *m
	now.rested()
	now.visits = nil // they only give names
	text, f := now.encode()
	if f != nil {
		return false, f
	}
	sum := sha256.Sum256(text)
	mark := hex.EncodeToString(sum[:])
	switch {
	case mark == m.mark:
		return m.steps >= MaxTransitions, nil
	case m.steps >= 2*m.marked:
		m.mark, m.marked = mark, m.steps
	}
	return false, nil
}
