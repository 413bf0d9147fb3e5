package storage

import (
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

// ClaimNew returns a claim that makes a run with its first Commit, and the run as
// it will have been made: until then there is none, and nobody is kept from making it.
// So a run that is begun at once costs one transaction, and is never there without
// having begun. It returns ErrInvalid for a run that cannot be created.
func ClaimNew(run Run) (Claim, *Snapshot, error) {
	if err := run.Check(); err != nil {
		return Claim{}, nil, err
	}
	made := run.New()
	made.Created = made.Created.Truncate(time.Microsecond).UTC()
	made.Updated = made.Created
	claim := ClaimLater(&made)
	claim.New = &made
	begun := made
	begun.Due = time.Time{}
	return claim, &Snapshot{Run: begun}, nil
}

// ClaimLater returns a claim that begins with the next commit of the run as it is
// stored. For those who write stores.
func ClaimLater(run *Run) Claim {
	return Claim{Run: run.ID, Fence: run.Fence + 1, ID: uuid.NewString(), Begins: run.Seq + 1, Wakeups: run.Wakeups}
}
