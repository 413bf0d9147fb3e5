package storage

import (
	"context"
	"time"
)

// Driver is how an owner takes runs over and writes them.
type Driver interface {
	// Create makes a run without an owner. The store sets counters, fence
	// and wakeup counter itself, and ignores those of run. An input above InlineLimit
	// becomes the run's payload 1. It returns ErrExists when there is one of
	// that id.
	//
	// With Run.Job the run is what that job wants: the job is the run's from this
	// commit on, under no claim that could run out. It returns ErrFenced when the
	// job wants another run, or has ended or been parked; ErrNotFound.
	Create(ctx context.Context, run Run) error
	// Begin takes the run over: it raises the fence, makes this store's owner
	// the run's, and loads it. It returns an *OwnedError when another live owner
	// has it (this process counts too), a *LimitedError when there is no place for
	// it, see [Limiter], and ErrNotFound.
	Begin(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Due loads runs that have no live owner, are not held, and are due.
	// Each has a claim that begins with its first Commit: that makes this store's
	// owner the run's and writes the checkpoint, or, with Release, writes it and
	// leaves the run without an owner. It returns ErrFenced, and changes nothing, when
	// the run is not as it was loaded any more, or is being changed: another owner was faster, or a message
	// has come; and a *LimitedError when the checkpoint does not release it, and its place
	// was taken meanwhile. So a run that is woken, does one thing and waits again costs one
	// transaction. Runs for which there is no place, see [Limiter], are left out; those
	// of q.Except count as driven. Due also returns when to ask again: when the next run is due,
	// perhaps one of another flow; zero when none is.
	Due(ctx context.Context, q DueQuery) (due []Due, next time.Time, err error)
	// Commit writes a checkpoint under a claim. It returns ErrFenced when the
	// claim is void or the sequence number is not the next; when the very
	// checkpoint was committed before (after ErrUnsure), it returns nil. It
	// returns ErrInvalid for a checkpoint that does not continue the run. The
	// checkpoint is not kept, but the values in it may be.
	//
	// The first one under a claim of ClaimNew makes the run, as Create does, takes it
	// over and writes the checkpoint, all of it or nothing; with Release the run has no
	// owner from the beginning. When there is a run of that id it returns ErrExists,
	// and otherwise the errors of Create. When the checkpoint does not release it and there is
	// no place for it, the run is made, without the checkpoint, due as ClaimNew was told, and a
	// *LimitedError returned.
	Commit(ctx context.Context, claim Claim, cp *Checkpoint) error
	// Release gives up the run, to be taken up when due (zero: only when a message
	// comes). If the wakeup counter is no longer at wakeups, it changes nothing and
	// returns ErrNewMessages. If the claim is void, it returns ErrFenced.
	Release(ctx context.Context, claim Claim, wakeups int64, due time.Time) error
	// Step takes a run without an owner through one event, in one transaction:
	// it raises the fence, loads, calls step and commits what it returns; with a
	// nil checkpoint nothing but the fence changes. The run has no owner
	// afterwards either: it is due as the checkpoint's Head says. An error of step
	// undoes all and is returned. It returns an *OwnedError when a live owner has
	// the run, and ErrNotFound. Step must not call the store, and may be called
	// again when the database was busy.
	Step(ctx context.Context, run string, step func(*Snapshot) (*Checkpoint, error)) error
}

// A Due run wants to be driven.
type Due struct {
	Run      string // its id
	Claim    Claim
	Snapshot *Snapshot
	Err      error // not nil when this run cannot be loaded: there is no more than its id
}

// A DueQuery selects runs that are due, those first that have been for longest.
type DueQuery struct {
	By     time.Time
	Flow   string            // "" is every flow
	Except []string          // runs to leave out, such as those that are being driven
	Offers map[string]string // what there is of that which runs need, see [NeedLabel]; those that need more are left out
	Limit  int               // 0 is all
	// Suspects selects the runs whose Lost is at least SuspectLost, those first about which
	// most is proved, whatever limits say; without it these are left out.
	Suspects bool
	// RunsOnly leaves out all of the snapshots but the Run, and the claims: Begin or Try loads
	// the rest. So what is found takes little memory, however large the runs are.
	RunsOnly bool
}
