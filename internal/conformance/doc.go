// Package conformance reads the recorded truth that Ebb is measured by, a
// folder of JSON lines beside the checkout, and compares what a run here gave
// with what the record says. Only tests use it.
//
//	for _, rec := range conformance.Executions(t) {
//		got := run(rec)                  // an Outcome
//		tally.Add(rec, rec.Compare(got)) // how far the two agree
//	}
//	tally.Print(t)
//
// A folder may be named by the environment variable EBB_CONFORMANCE; without it
// the folder shared/conformance beside the checkout is taken. Where there is
// none the test is skipped with a message that begins "needs conformance:".
//
// # Levels
//
// An execution agrees up to a level: L1 status, output and error; L2 the cause,
// too; L3 types and states of the history's events in order; L4 their details;
// L5 their numbers and what each follows from. Levels from L3 on count only the
// records that carry events.
package conformance
