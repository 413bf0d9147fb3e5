package engine

import (
	"fmt"

	"github.com/ebbflow/ebb/engine/internal/driver"
)

// Limits bound the growth of one run, and the memory of the process. If a run reaches a limit, it fails with
// [atom.CodeLimit], and Ebb undoes it. No Retry, Catch or retry controller of the run sees the failure. The undo
// itself has no limit. A zero field means the default, see [DefaultLimits].
type Limits struct {
	// Transitions is how many steps of its language, such as states entered, a run may take without waiting for a
	// task, timer, token or message.
	//
	//limit:run steps of a language, such as states entered, without a wait | {transitions}* | `transitions`
	Transitions int64
	// Atoms is how many nodes and child flows of a growing flow may be open at the same time.
	//
	//limit:run open atoms: nodes and child flows of a growing flow | {atoms}* | `atoms`
	Atoms int64
	// Values is how many bytes the inputs, notes and results of open atoms may have in total. Atoms of a plan do
	// not count, because its definition bounds them.
	//
	//limit:run bytes of the values of open atoms | {values B}* | `values`
	Values int64
	// Iterations is how many steps a run may take in total: steps of its language, or attempts of the atoms of its
	// plan.
	//
	//limit:run steps of a language, or attempts of a plan's atoms, in all | {iterations}* | `iterations`
	Iterations int64
	// Bytes is how many bytes of history, payloads, records of grown atoms and inputs of child runs a run may write.
	// The engine checks this before each step of a language and each attempt of an atom, so a run exceeds it by at
	// most one step.
	//
	//limit:run bytes of history, payloads, records of grown atoms and inputs of child runs | {bytes B}* | `bytes`
	Bytes int64
	// Descendants is how many descendants a run may have: its child runs, their child runs, and so on. If a run
	// anywhere in the family may not create another child, that run fails. Runs that create children at the same
	// moment may exceed the limit, each by the children of one commit.
	//
	//limit:run child runs and their descendants, such as items or batches of a distributed Map | {descendants}* |
	//limit:and `descendants`
	Descendants int64
	// Depth is the maximum length of a chain of runs in which each one created the next.
	//
	//limit:run runs that create one another in a line | {depth}* | `depth`
	Depth int64
	// Memory is how many bytes of live memory the process may use before [Server.Serve] stops taking up runs. Runs
	// that it already drives continue. Serve takes up runs again when a tenth of the budget is free.
	//
	// If a run of a growing flow grows meanwhile, and alone needs more than a third of the budget, the engine
	// suspends it. The failure has [atom.CodeLimit], and the run's job is parked. The run resumes when it is run
	// again.
	//
	// Live memory is what the Go runtime counts, without garbage. 0 means three fifths of the memory limit of the
	// process's control group, or no budget if there is no such limit. A negative number means no budget. The
	// engine does not set the limit of Go's runtime, see [runtime/debug.SetMemoryLimit]; a third above the budget
	// is a good value.
	Memory int64
}

// DefaultLimits returns the limits of an engine without [WithLimits].
func DefaultLimits() Limits {
	return Limits{
		Transitions: 10_000_000,
		Atoms:       250_000,
		Values:      512 << 20,
		Iterations:  100_000_000,
		Bytes:       32 << 30,
		Descendants: 20_000_000,
		Depth:       100_000,
	}
}

// WithLimits bounds each run that the engine drives, and the memory of the process. The limits are not stored with
// the run: the limits of the process that drives the run apply. The counts are stored, so they survive a crash.
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
