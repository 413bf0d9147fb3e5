package engine

import (
	"fmt"

	"github.com/ebbflow/ebb/engine/internal/driver"
)

// Limits bound what one run may become, and the memory of the process. A run that reaches
// one fails with [atom.CodeLimit], and Ebb undoes what the run did. No limit applies to the
// undo. No Retry, Catch or retry controller of the run sees the failure. A zero field is the
// default, see [DefaultLimits].
type Limits struct {
	// Transitions is how many steps of its language, such as states entered, a run may
	// take one after the other without waiting for a task, timer, token or message.
	Transitions int64
	// Atoms is how many nodes and child flows of a growing flow may be open at once.
	Atoms int64
	// Values is how many bytes the inputs, notes and results of open atoms may have
	// together. The atoms of a plan, which its definition bounds, do not count.
	Values int64
	// Iterations is how many steps a run may take in all: steps of its language, or
	// attempts of the atoms of its plan.
	Iterations int64
	// Bytes is how many bytes of history, payloads and records of grown atoms a run may
	// write. The engine looks before each step of a language, and at each attempt of an
	// atom of a plan, so that a run exceeds it by at most one step.
	Bytes int64
	// Descendants is how many runs a run may have as children, children of these, and so on,
	// all together. A run that may not create another one fails, wherever it is in the family.
	// Runs that create children at the same moment may exceed it, each by the children of one
	// commit.
	Descendants int64
	// Depth is how many runs may create one another in a line.
	Depth int64
	// Memory is how many bytes of live memory the process may have before [Server.Serve]
	// takes up no more work. Runs that it drives continue. Serve takes up work again when a
	// tenth of the budget is free.
	//
	// A run of a growing flow that becomes larger while the budget is reached, and needs more
	// than a third of it alone, does not fail. It is suspended with a failure of
	// [atom.CodeLimit] until it is run again, and its job is parked.
	//
	// Live memory is what the Go runtime counts, without garbage. 0 is three fifths of the
	// limit of the process's control group, and no budget where there is none. A negative
	// number is no budget. The engine does not set the limit of Go's runtime, see
	// [runtime/debug.SetMemoryLimit]; a third above the budget is a good one.
	Memory int64
}

// DefaultLimits returns the limits of an engine that was given no others.
func DefaultLimits() Limits {
	return Limits{
		Transitions: 10_000_000,
		Atoms:       250_000,
		Values:      512 << 20,
		Iterations:  100_000_000,
		Bytes:       16 << 30,
		Descendants: 20_000_000,
		Depth:       100_000,
	}
}

// WithLimits bounds each run that the engine drives, and the memory of the process. Limits are not stored with the
// run: after a restart the limits of the process that drives the run apply. What is
// counted is stored, so a crash does not begin the count anew.
func WithLimits(l Limits) Option {
	return option(func(e *Engine) error {
		set := DefaultLimits()
		for _, limit := range [...]struct {
			name     string
			to, from *int64
		}{
			{"Transitions", &set.Transitions, &l.Transitions},
			{"Atoms", &set.Atoms, &l.Atoms},
			{"Values", &set.Values, &l.Values},
			{"Iterations", &set.Iterations, &l.Iterations},
			{"Bytes", &set.Bytes, &l.Bytes},
			{"Descendants", &set.Descendants, &l.Descendants},
			{"Depth", &set.Depth, &l.Depth},
		} {
			if *limit.from < 0 {
				return fmt.Errorf("engine: the limit %s is %d; want at least 1, or 0 for the default", limit.name, *limit.from)
			}
			if *limit.from > 0 {
				*limit.to = *limit.from
			}
		}
		set.Memory = l.Memory
		e.env.Limits = driver.Limits(set)
		return nil
	})
}
