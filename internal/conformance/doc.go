// Package conformance reads the cases that Ebb is measured by, and compares what a run here gave with what a case says.
// Only tests use it.
//
// Our own cases are in testdata, described in testdata/FORMAT.md. Recorded ones are not part of the repository. The
// environment variable EBB_CONFORMANCE names their folder; the default is shared/conformance beside the checkout.
// Without that folder, a test that needs it is skipped with a message that begins "needs conformance:".
//
//	for _, rec := range conformance.Executions(t) {
//		got := run(rec)                  // an Outcome
//		tally.Add(rec, rec.Compare(got)) // how far the two agree
//	}
//	tally.Print(t)
//
// # Levels
//
// A recorded execution agrees up to a level: L1 status, output and error; L2 the cause, too; L3 types and states of the
// history's events in order; L4 their details; L5 their numbers and what each follows from. Levels from L3 on count
// only the records that carry events.
package conformance
