package interpreter

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
)

// A machine that takes transition after transition without a wait may compute something, or be in a livelock. If its
// whole memory is the same as before, it is in a livelock, because it will repeat itself forever. If its memory always
// differs, only the engine's limits apply, as for all languages.

// livelockSample is the interval, in transitions, at which a machine's memory is compared. A machine that repeats
// itself is also equal at some of these transitions.
const livelockSample = 100

// rested records that time has passed, or that an event came from outside.
func (m *memory) rested() { m.steps, m.mark, m.marked = 0, "", 0 }

// repeats reports whether the machine's memory is the same as at an earlier transition since the last wait. It
// remembers one earlier transition, and replaces it when the number of transitions has doubled. Therefore, it finds
// repetitions of every length (Brent's algorithm).
func (m *memory) repeats() (bool, *stateerror.Error) {
	if m.steps < maxTransitions/2 || m.steps%livelockSample != 0 {
		return false, nil
	}
	now := *m
	now.rested()
	now.visits = nil // visits only number nodes
	text, f := now.encode()
	if f != nil {
		return false, f
	}
	sum := sha256.Sum256(text)
	mark := hex.EncodeToString(sum[:])
	switch {
	case mark == m.mark:
		return m.steps >= maxTransitions, nil
	case m.steps >= 2*m.marked:
		m.mark, m.marked = mark, m.steps
	}
	return false, nil
}
