package storage

import (
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A Claim is the right to write a run as its owner. It is handed out by Begin
// and holds until the next Begin or Step of the run. One that is handed out by
// Due, or by ClaimNew, begins with its first Commit.
type Claim struct {
	Run   string
	Fence int64
	ID    string

	Begins  int64 // number of the commit that it begins with, Seq+1 of the run as it was loaded; 0 when it has begun
	Wakeups int64 // by Due: the wakeup counter as it was loaded
	New     *Run  // by ClaimNew: what the first commit makes; it is not changed
}

// BeginsWith reports whether the claim begins with that checkpoint.
func (c *Claim) BeginsWith(cp *Checkpoint) bool { return c.Begins > 0 && c.Begins == cp.Head.Seq+1 }

// Makes reports whether the claim's run is made with that checkpoint.
func (c *Claim) Makes(cp *Checkpoint) bool { return c.New != nil && c.BeginsWith(cp) }

// ClaimNew returns a claim that creates a run with its first Commit, and the run as it
// will have been created. Until that Commit the run does not exist, and any other process
// can create it. So a run that is begun at once costs one transaction, and is never stored
// without having begun. ClaimNew returns ErrInvalid for a run that cannot be created.
func ClaimNew(run Run) (Claim, *Snapshot, error) {
	if err := run.Check(); err != nil {
		return Claim{}, nil, err
	}
	made := run.New()
	made.Created = made.Created.Truncate(time.Microsecond).UTC()
	made.Updated = made.Created
	claim := Claim{Run: made.ID, Fence: 1, ID: uuid.NewString(), Begins: 1, New: &made}
	begun := made
	begun.Due = time.Time{}
	return claim, &Snapshot{Run: begun}, nil
}

// New returns the run as it is when it is created: the store's own counters at zero,
// and an input above InlineLimit as payload 1.
func (r *Run) New() Run {
	run := *r
	run.Labels = maps.Clone(run.Labels)
	run.Secrets = Secrets{Symbols: slices.Clone(run.Secrets.Symbols), Atoms: slices.Clone(run.Secrets.Atoms)}
	if run.Failure != nil {
		failure := *run.Failure.Bounded()
		run.Failure = &failure
	}
	run.Seq, run.Entries, run.Events, run.Refs, run.Undos, run.Growth = 0, 0, 0, 0, 0, Growth{}
	run.Fence, run.ClaimID, run.Owner, run.Wakeups, run.Lost, run.Suspicion = 0, "", "", 0, 0, Suspicion{}
	if run.Created.IsZero() {
		run.Created = time.Now()
	}
	run.Updated = run.Created
	if len(run.Input.Data) > InlineLimit {
		run.Input.Ref, run.Refs = 1, 1
	}
	return run
}
