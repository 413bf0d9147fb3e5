package backend

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// Driver is the part of a [Store] with which a process takes runs over and writes them.
type Driver interface {
	// Create creates a run without an owner. The store sets the run's counters, fence and wakeup counter to zero.
	// An input larger than InlineLimit becomes payload 1. If a run with that id exists, Create returns ErrExists.
	//
	// If Run.Job is set, the commit binds the job to the run, without a claim that could expire. If the job asks
	// for another run, has ended or is parked, Create returns ErrFenced. If the job does not exist, Create returns
	// ErrNotFound.
	//
	// If a check does not hold at the moment of the commit, Create returns a *[storage.ConflictError]. A write of a
	// checked record that returns later did not see the run; a write that returned before was seen.
	Create(ctx context.Context, run storage.Run, checks ...storage.RecordCheck) error
	// Begin takes the run over: it raises the fence, makes this store's owner the run's owner, and loads the run.
	// If a live owner drives the run, Begin returns an *OwnedError; that owner may be this store's. If a limit is
	// reached, it returns a *LimitedError, see [Limiter]. If the run does not exist, it returns ErrNotFound.
	Begin(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Load loads a run without a live owner, whether or not it is due. Its claim begins with its first Commit, as that
	// of a run that Due loaded. If a live owner drives the run, Load returns an *OwnedError; that owner may be this
	// store's. If the run does not exist, it returns ErrNotFound.
	Load(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Due loads runs that are due and have no live owner. It leaves out runs on hold that have no command in the inbox,
	// see [ReachesHeld], and runs that a limit does not allow now; for this, the runs in q.Except count as
	// driven. Due also returns when the next run of any flow is due; zero if there is no such run.
	//
	// Each run has a claim that begins with its first Commit, which takes the run over and writes the checkpoint.
	// If the checkpoint has Release, the run has no owner afterwards. Therefore, a run that wakes up, does one step
	// and waits again costs one transaction. If the run has changed since Due loaded it, or another transaction is
	// changing it, the Commit returns ErrFenced and changes nothing. If the limit was reached meanwhile and the
	// checkpoint does not release the run, the Commit returns a *LimitedError.
	Due(ctx context.Context, q DueQuery) (due []Due, next time.Time, err error)
	// Commit writes a checkpoint under a claim. If the claim is void, or the sequence number is not the next one,
	// Commit returns ErrFenced. If the same checkpoint was committed before, as after ErrUnsure, Commit returns
	// nil. If the checkpoint does not continue the run, Commit returns ErrInvalid. The store may keep values of the
	// checkpoint, so the caller must not change them afterwards.
	//
	// The first Commit under a claim of ClaimNew creates the run as Create does, takes it over and writes the
	// checkpoint, all or nothing. If the checkpoint has Release, the run has no owner afterwards. This Commit also
	// returns the errors of Create. If a limit is reached and the checkpoint does not release the run, Commit
	// returns a *LimitedError: it creates the run as ClaimNew received it and drops the checkpoint. The checks of the
	// claim apply in both cases.
	Commit(ctx context.Context, claim Claim, cp *Checkpoint) error
	// Release ends the claim. The run is due at the given time; if the time is zero, only when a message arrives.
	// If the wakeup counter differs from wakeups, Release changes nothing and returns ErrNewMessages. If the claim
	// is void, it returns ErrFenced.
	Release(ctx context.Context, claim Claim, wakeups int64, due time.Time) error
	// Step applies one event to a run without an owner, in one transaction: it raises the fence, loads the run,
	// calls step and commits the checkpoint that step returns. If that checkpoint is nil, only the fence changes.
	// Afterwards the run has no owner and is due as the checkpoint's Head says. If step returns an error, Step
	// rolls the transaction back and returns that error. If a live owner drives the run, Step returns an
	// *OwnedError. If the run does not exist, it returns ErrNotFound. The function step must not call the store. If
	// the database is busy, Step calls it again.
	Step(ctx context.Context, run string, step func(*Snapshot) (*Checkpoint, error)) error
}

// A Due is a run that is due, as [Driver.Due] loads it.
type Due struct {
	Run      string    // id of the run
	Claim    Claim     // begins with the first Commit
	Snapshot *Snapshot // the run as it was loaded
	Err      error     // why the run cannot be loaded; only Run is set then. nil otherwise
}

// A DueQuery selects runs that are due. The run that has been due for longest comes first.
type DueQuery struct {
	By     time.Time // runs that are due by then
	Flows  []string  // runs of these flows; empty is every flow
	Except []string  // ids of runs to leave out, such as runs that the caller already drives
	// What this process offers to runs that need it, see [NeedLabel]; runs that need more are left out
	Offers map[string]string
	Limit  int // maximum number of runs; 0 means all
	// CrashLoops selects only runs whose Lost is at least CrashLoopDeaths, in descending order of CrashLoop.Proof, and
	// ignores limits. If CrashLoops is false, Due leaves these runs out.
	CrashLoops bool
	// RunsOnly loads only the Run of each snapshot, without claims. The caller loads the rest with Begin or Try.
	// The result then needs little memory, however large the runs are.
	RunsOnly bool
	// Take takes the runs over before Due returns, all in one transaction. Therefore, if the process dies while it
	// computes their first checkpoints, the death counts against these runs. Their claims have begun. Due does not
	// take over a run that a limit counts: its claim begins with its first Commit.
	Take bool
}
