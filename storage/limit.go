package storage

import (
	"fmt"
	"strings"
	"time"
)

// A Limit caps how many runs are driven at once, and how many jobs are claimed within a period. Runs caps runs that
// have an owner: a released run that only waits does not count, and when an owner dies, its runs no longer count.
// Rate caps claims of jobs, and retries count.
//
//limit:scheduling concurrent runs of a flow or label value (`ebb limit`, `storage.Limit`) | none* | wait
type Limit struct {
	Flow string // name of the flow whose runs count; "" means every flow
	// Label is the key of a label: runs count separately for each of its values, and runs without the label do not
	// count. If Label is "", all runs count together.
	Label string
	Runs  int // maximum number of runs driven at once; 0 means no limit

	Rate int           // maximum number of jobs claimed within any period as long as Per; 0 means no limit
	Per  time.Duration // length of the period for Rate, to the microsecond
}

// None reports whether the limit has neither Runs nor Rate. Setting such a limit removes the stored one.
func (l *Limit) None() bool { return l.Runs == 0 && l.Rate == 0 }

// String describes what the limit counts, such as "at most 3 at once of trip".
func (l *Limit) String() string {
	of, each := "every flow", ""
	if l.Flow != "" {
		of = l.Flow
	}
	if l.Label != "" {
		each = " with the same " + l.Label
	}
	var most []string
	if l.Runs > 0 || l.Rate == 0 {
		most = append(most, fmt.Sprintf("at most %d at once", l.Runs))
	}
	if l.Rate > 0 {
		most = append(most, fmt.Sprintf("at most %d new ones in %v", l.Rate, l.Per))
	}
	return fmt.Sprintf("%s of %s%s", strings.Join(most, ", "), of, each)
}

// A LimitedError is returned if a limit does not allow the run to be driven now, or a job to be claimed.
type LimitedError struct {
	Run   string // id of the run, or of the job
	Limit Limit  // the limit that is reached
	Value string // the run's value of Limit.Label; "" if Limit.Label is ""
	Used  int    // runs that are driven now; of a rate, claims within the period
	// Next is when a rate allows the next claim, by the store's clock. It is zero for a limit on driven runs.
	Next time.Time
}

// Error names the limit.
func (e *LimitedError) Error() string {
	return fmt.Sprintf("storage: run %q waits for a limit: %s", e.Run, e.Reason())
}

// Reason describes the limit that is reached and, if it counts by a label, the run's value.
func (e *LimitedError) Reason() string {
	if e.Limit.Label == "" {
		return e.Limit.String()
	}
	return fmt.Sprintf("%s, which is %q", e.Limit.String(), e.Value)
}

// Unwrap returns [ErrLimited].
func (e *LimitedError) Unwrap() error { return ErrLimited }
