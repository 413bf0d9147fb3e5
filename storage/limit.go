package storage

import (
	"context"
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

// Bounds of the rates of a [Limit].
const (
	//limit:scheduling jobs claimed per period, of a flow or label value (`ebb limit --rate`) | none*; up to {} in
	//limit:and {MinPer} to {MaxPer} | wait
	MaxRate = 100_000             // largest Rate of a [Limit], in jobs
	MinPer  = time.Millisecond    // shortest Per of a Limit
	MaxPer  = 31 * 24 * time.Hour // longest Per of a Limit
	//limit:scheduling limits of a database (`storage.MaxLimitCount`) | {}
	MaxLimitCount = 1000 // limits that a store keeps; one by a label counts all values of the label
)

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

// Check returns an error that wraps ErrInvalid and names the problem if the limit cannot be set.
func (l *Limit) Check() error {
	switch {
	case l.Runs < 0:
		return fmt.Errorf("%w: a limit of %d runs; want 1 or more, or 0 for none", ErrInvalid, l.Runs)
	case l.Rate < 0 || l.Rate > MaxRate:
		return fmt.Errorf("%w: a rate of %d jobs; want 1 to %d, or 0 for none", ErrInvalid, l.Rate, MaxRate)
	case l.Rate > 0 && (l.Per < MinPer || l.Per > MaxPer):
		return fmt.Errorf("%w: a rate of %d jobs in %v; want %v to %v", ErrInvalid, l.Rate, l.Per, MinPer, MaxPer)
	case l.None(): // it removes a limit, whatever its name is
		return nil
	case l.Label != "":
		if err := CheckLabel(l.Label, ""); err != nil {
			return err
		}
	}
	if l.Flow == "" {
		return nil
	}
	return CheckID("flow", l.Flow)
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

// Limiter is the part of a [Store] that limits how many runs are driven at once, and how many jobs are claimed in a
// period. The store keeps the limits, so they hold for all processes that use it.
type Limiter interface {
	// SetLimit sets the limit for its Flow and Label, and replaces an earlier one. It returns ErrInvalid for one more
	// than MaxLimitCount. Without Runs and Rate it removes the limit. Runs that a process already drives continue, even
	// if they are more than the limit allows. If Runs changes, SetLimit reads each run that has not ended, in one
	// transaction.
	SetLimit(ctx context.Context, limit Limit) error
	// Limits returns all limits, ordered by flow and label.
	Limits(ctx context.Context) ([]Limit, error)
	// Seize is Begin without regard to limits, for a command that must not wait for a limit.
	Seize(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Limited returns the limit that keeps a run without an owner from being driven. It returns nil if no limit is
	// reached, or if the run has an owner.
	Limited(ctx context.Context, run string) (*LimitedError, error)
	// Rated returns the rate that keeps a job from being claimed; nil if no rate is used up. Of several rates it returns
	// the one that allows the job last.
	Rated(ctx context.Context, job *Job) (*LimitedError, error)
}
