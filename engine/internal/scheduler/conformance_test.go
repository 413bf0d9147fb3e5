package scheduler_test

import (
	"errors"
	"testing"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestConformanceTaskFlow plays every recorded case in the canonical serial
// order, a commit per write, and compares everything.
//
// Guarantee (G3): Recorded runs of TaskFlow match in every field, except [named
// departures](../explanation/scheduling.md).
// Also: `engine: TestConformanceTaskFlow`, `TestConformancePostgres` (one of 25).
//
// Guarantee (G4): What is reverted, and in which order, is as recorded on TaskFlow.
func TestConformanceTaskFlow(t *testing.T) {
	t.Parallel()
	conformance.ForFiles(t, "taskflow", func(t *testing.T, file string) {
		t.Parallel()
		tally := conformance.NewTaskFlowTally(file, "serial")
		for _, rec := range conformance.TaskFlow(t, file) {
			if departure := rec.Departure(); departure != "" {
				tally.LeaveOut(departure)
				continue
			}
			tally.Add(rec, rec.Compare(playCase(t, rec)))
		}
		tally.Print(t)
	})
}

// playCase plays a case in the canonical order. A flow that is refused is an
// outcome, too.
func playCase(t *testing.T, rec *conformance.TaskFlowRecord) *conformance.TaskFlowOutcome {
	t.Helper()
	d, err := newDriver(t, &rec.Case)
	if err != nil {
		return &conformance.TaskFlowOutcome{BuildError: refusal(err)}
	}
	return d.play()
}

// refusal returns TaskFlow's word for why a flow is refused.
func refusal(err error) string {
	for kind, word := range map[error]string{
		flow.ErrDuplicate: "Duplicate", flow.ErrMissing: "MissingDependencies",
		flow.ErrAmbiguous: "AmbiguousDependency", flow.ErrCycle: "DependencyFailure",
	} {
		if errors.Is(err, kind) {
			return word
		}
	}
	return err.Error()
}
