package storage

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A Limit bounds how many runs are driven at once, and how many jobs are claimed
// within a period. It counts runs that have an owner: a released run that only waits
// takes no place, and when an owner dies, its runs and their places become free. It also
// counts every claim of a job, including the claims of retries.
type Limit struct {
	Flow  string // counts the runs of this flow; "" is of every flow
	Label string // counts those together that have the same value of this label, and no others; "" counts all together
	Runs  int    // how many at once; 0 is no limit

	Rate int           // how many jobs are claimed within Per, wherever that begins; 0 is no limit
	Per  time.Duration // by the store's clock, to the microsecond
}

// The limits of rates.
const (
	MaxRate = 100_000             // jobs
	MinPer  = time.Millisecond    // the shortest time within which they are counted
	MaxPer  = 31 * 24 * time.Hour // the longest
)

// None reports whether nothing is limited.
func (l *Limit) None() bool { return l.Runs == 0 && l.Rate == 0 }

// String describes what the limit counts.
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

// Check returns ErrInvalid, with the reason, if the limit cannot be set.
func (l *Limit) Check() error {
	switch {
	case l.Runs < 0:
		return fmt.Errorf("%w: a limit of %d runs; want 1 or more, or 0 for none", ErrInvalid, l.Runs)
	case l.Rate < 0 || l.Rate > MaxRate:
		return fmt.Errorf("%w: a rate of %d jobs; want 1 to %d, or 0 for none", ErrInvalid, l.Rate, MaxRate)
	case l.Rate > 0 && (l.Per < MinPer || l.Per > MaxPer):
		return fmt.Errorf("%w: a rate of %d jobs in %v; want %v to %v", ErrInvalid, l.Rate, l.Per, MinPer, MaxPer)
	case len(l.Label) > MaxLabel:
		return fmt.Errorf("%w: label %.20q…: keys have up to %d bytes", ErrInvalid, l.Label, MaxLabel)
	}
	return nil
}

// A LimitedError says that a run has to wait for its place.
type LimitedError struct {
	Run   string
	Limit Limit  // the one that is reached
	Value string // of the limit's label
}

// Error names the limit.
func (e *LimitedError) Error() string {
	return fmt.Sprintf("storage: run %q waits for a place: %s", e.Run, e.Reason())
}

// Reason says what the limit counts, and that it is reached.
func (e *LimitedError) Reason() string {
	if e.Limit.Label == "" {
		return e.Limit.String()
	}
	return fmt.Sprintf("%s, which is %q", e.Limit.String(), e.Value)
}

// Unwrap returns [ErrLimited].
func (e *LimitedError) Unwrap() error { return ErrLimited }

// Limiter is how many runs may be driven at once, and how many jobs claimed within
// a time. Limits are kept with the runs, so they hold for all processes that drive
// them.
type Limiter interface {
	// SetLimit sets the limit of that flow and label, and replaces an earlier one. Without
	// Runs and Rate it removes the limit. Runs that are being driven continue, even if they
	// are more than the limit allows. If Runs changes, SetLimit reads each run that has not
	// ended, in one transaction.
	SetLimit(ctx context.Context, limit Limit) error
	// Limits returns all limits, ordered by flow and label.
	Limits(ctx context.Context) ([]Limit, error)
	// Seize is Begin that ignores limits, for a command that must not wait for a
	// place.
	Seize(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Limited returns the limit that a run without an owner would have to wait for;
	// nil when there is a place, or the run has an owner.
	Limited(ctx context.Context, run string) (*LimitedError, error)
}
