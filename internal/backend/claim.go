package backend

import (
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/google/uuid"
)

// A Claim is the right to write a run as its owner. It holds until the run's next Begin or Step. A claim that Begin
// returns has begun. A claim that Due or ClaimNew returns begins with its first Commit.
type Claim struct {
	Run   string // id of the run
	Fence int64  // fence of the run under the claim; a larger one voids the claim
	ID    string // random id of the claim

	Begins  int64        // number of the first commit under the claim: Seq+1 of the loaded run; 0 if the claim has begun
	Wakeups int64        // of a claim of Due: the run's wakeup counter when Due loaded the run
	New     *storage.Run // of a claim of ClaimNew: the run that the first commit creates; must not be changed

	Checks []storage.RecordCheck // of a claim of ClaimNew: the conditions on which the first commit creates the run
}

// BeginsWith reports whether cp is the first checkpoint under the claim.
func (c *Claim) BeginsWith(cp *Checkpoint) bool { return c.Begins > 0 && c.Begins == cp.Head.Seq+1 }

// Makes reports whether committing cp creates the claim's run.
func (c *Claim) Makes(cp *Checkpoint) bool { return c.New != nil && c.BeginsWith(cp) }

// ClaimNew returns a claim that creates a run with its first Commit, and a snapshot of the run as that Commit
// creates it. Creating and starting the run then costs one transaction. Until that Commit the run does not exist,
// and another process can create a run with the same id. The Commit creates nothing if one of the checks does not hold.
// If the run cannot be created, ClaimNew returns ErrInvalid.
func ClaimNew(run storage.Run, checks ...storage.RecordCheck) (Claim, *Snapshot, error) {
	if err := CheckRun(&run, checks...); err != nil {
		return Claim{}, nil, err
	}
	if err := CheckID("run", run.ID); err != nil && run.Parent == "" {
		return Claim{}, nil, err
	}
	made := NewRun(&run)
	made.Created = made.Created.Truncate(time.Microsecond).UTC()
	made.Updated = made.Created
	claim := Claim{Run: made.ID, Fence: 1, ID: uuid.NewString(), Begins: 1, New: &made, Checks: slices.Clone(checks)}
	begun := made
	begun.Due = time.Time{}
	return claim, &Snapshot{Run: begun}, nil
}

// NewRun returns the record with which a store creates the run: counters are zero, and an input larger than
// InlineLimit is payload 1.
func NewRun(r *storage.Run) storage.Run {
	run := *r
	run.Labels = maps.Clone(run.Labels)
	run.Secrets = storage.Secrets{Symbols: slices.Clone(run.Secrets.Symbols), Atoms: slices.Clone(run.Secrets.Atoms)}
	if run.Failure != nil {
		failure := *run.Failure.Bounded()
		run.Failure = &failure
	}
	run.Number = 0
	run.Seq, run.Entries, run.Events, run.Refs, run.Undos, run.Growth = 0, 0, 0, 0, 0, storage.Growth{}
	run.Fence, run.ClaimID, run.Owner, run.Wakeups, run.Lost, run.CrashLoop = 0, "", "", 0, 0, storage.CrashLoop{}
	if run.Created.IsZero() {
		run.Created = time.Now()
	}
	run.Updated = run.Created
	if len(run.Input.Data) > InlineLimit {
		run.Input.Ref, run.Refs = 1, 1
	}
	return run
}
