package conformance

import "slices"

// Departure returns the mark of the first of TaskFlow's peculiarities that the
// record bears and that Ebb does not share, or "". Such a record is no measure
// for Ebb. The marks are those of the records' format, and no others:
//
//	P1   failures of atoms that later succeeded are still shown
//	P3   a run ends REVERTED although a revert failed
//	P4   a run ends REVERTED although failed atoms were left as they were
//	P5   a missing value leaves its consumer RUNNING (P6: an optional one, too)
//	P7   a refused reset has reset the atoms all the same
//	P10  a failure below a retry that was left out cannot be charged
//	R4   the walk back stops at a retry that was left out
func (r *TaskFlowRecord) Departure() string {
	last := map[string]string{}
	for i := range r.Expect.Runs {
		run := &r.Expect.Runs[i]
		for _, change := range run.Trace {
			if atom := change.Atom(); atom != "" {
				last[atom] = change.To()
			}
		}
		raised := func(failure string) bool { return slices.Equal(run.Raised, []string{failure}) }
		switch {
		case len(run.RaisedStale) > 0 ||
			slices.ContainsFunc(run.Calls, func(c TaskFlowCall) bool { return len(c.Stale) > 0 }):
			return "P1"
		case run.Flow == "REVERTED" && hasValue(last, "REVERT_FAILURE"):
			return "P3"
		case run.Flow == "REVERTED" && r.Case.Options.NeverResolve &&
			(hasValue(last, "SUCCESS") || hasValue(last, "FAILURE")):
			return "P4"
		case raised("!NotFound") && run.Flow == "FAILURE":
			return "P5"
		case raised("!InvalidState") && run.Op == "reset_run":
			return "P7"
		case raised("!StorageFailure"):
			return "P10"
		case raised("!InvalidState") && run.Flow == "RUNNING":
			return "R4"
		}
	}
	return ""
}

func hasValue(m map[string]string, value string) bool {
	for _, v := range m {
		if v == value {
			return true
		}
	}
	return false
}
