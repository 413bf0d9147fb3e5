package backend

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// Bounds of the rates of a [storage.Limit].
const (
	//limit:scheduling jobs claimed per period, of a flow or label value (`ebb limit --rate`) | none*; up to {} in
	//limit:and {MinPer} to {MaxPer} | wait
	MaxRate = 100_000             // largest Rate of a [Limit], in jobs
	MinPer  = time.Millisecond    // shortest Per of a Limit
	MaxPer  = 31 * 24 * time.Hour // longest Per of a Limit
	//limit:scheduling limits of a database (`backend.MaxLimitCount`) | {}
	MaxLimitCount = 1000 // limits that a store keeps; one by a label counts all values of the label
)

// CheckLimit returns an error that wraps ErrInvalid and names the problem if the limit cannot be set.
func CheckLimit(l *storage.Limit) error {
	switch {
	case l.Runs < 0:
		return fmt.Errorf("%w: a limit of %d runs; want 1 or more, or 0 for none", storage.ErrInvalid, l.Runs)
	case l.Rate < 0 || l.Rate > MaxRate:
		return fmt.Errorf("%w: a rate of %d jobs; want 1 to %d, or 0 for none", storage.ErrInvalid, l.Rate, MaxRate)
	case l.Rate > 0 && (l.Per < MinPer || l.Per > MaxPer):
		return fmt.Errorf("%w: a rate of %d jobs in %v; want %v to %v", storage.ErrInvalid, l.Rate, l.Per, MinPer, MaxPer)
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

// Limiter is the part of a [Store] that limits how many runs are driven at once, and how many jobs are claimed in a
// period. The store keeps the limits, so they hold for all processes that use it.
type Limiter interface {
	// SetLimit sets the limit for its Flow and Label, and replaces an earlier one. It returns ErrInvalid for one more
	// than MaxLimitCount. Without Runs and Rate it removes the limit. Runs that a process already drives continue, even
	// if they are more than the limit allows. If Runs changes, SetLimit reads each run that has not ended, in one
	// transaction.
	SetLimit(ctx context.Context, limit storage.Limit) error
	// Limits returns all limits, ordered by flow and label.
	Limits(ctx context.Context) ([]storage.Limit, error)
	// Seize is Begin without regard to limits, for a command that must not wait for a limit.
	Seize(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Limited returns the limit that keeps a run without an owner from being driven. It returns nil if no limit is
	// reached, or if the run has an owner.
	Limited(ctx context.Context, run string) (*storage.LimitedError, error)
	// Rated returns the rate that keeps a job from being claimed; nil if no rate is used up. Of several rates it
	// returns the one that allows the job last.
	Rated(ctx context.Context, job *storage.Job) (*storage.LimitedError, error)
}
