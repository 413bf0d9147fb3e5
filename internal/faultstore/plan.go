package faultstore

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// A Call is a call of one of a store's methods.
type Call struct {
	Method     string // its name: Commit, Begin, Send …
	Nth        int    // of the calls of this method, from 1
	Run        string // the run it is about; "" when it is not about one
	Checkpoint *storage.Checkpoint
}

// A Fault describes how a call fails. With the zero Fault, the call does not fail.
type Fault struct {
	Delay time.Duration // before anything else; the end of the call's context ends it
	Err   error         // what is answered
	Done  bool          // with Err: it was done all the same, only the answer is lost
}

// What stores answer when something is wrong with them.
var (
	// ErrBusy is that the database is locked: it passes.
	ErrBusy = errors.New("faultstore: the database is locked")
	// ErrDisk is that the disk is full, or broken.
	ErrDisk = errors.New("faultstore: the disk is full")

	// Busy and Disk do nothing and say why.
	Busy = Fault{Err: ErrBusy}
	Disk = Fault{Err: ErrDisk}
	// Lost is a call that was done, and whose answer is lost; Unsure is one that was
	// not done, and cannot be told from it.
	Lost   = Fault{Err: storage.ErrUnsure, Done: true}
	Unsure = Fault{Err: storage.ErrUnsure}
)

// A Plan returns the Fault of a call. It is asked about one call at a time.
type Plan func(Call) Fault

// At lets the nth call of a method go wrong, from 1.
func At(method string, nth int, f Fault) Plan {
	return func(c Call) Fault {
		if c.Method == method && c.Nth == nth {
			return f
		}
		return Fault{}
	}
}

// From lets the nth call of a method go wrong and all that follow.
func From(method string, nth int, f Fault) Plan {
	return func(c Call) Fault {
		if c.Method == method && c.Nth >= nth {
			return f
		}
		return Fault{}
	}
}

// Sometimes lets a share of the calls that write go wrong, with one of the
// faults; which, the seed decides. Of the faults that leave open whether the call
// was done only Commit gets any, as it alone can be repeated without looking.
func Sometimes(seed uint64, share float64, faults ...Fault) Plan {
	rng := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // the same seed, the same faults
	return func(c Call) Fault {
		if len(faults) == 0 || !writes[c.Method] || rng.Float64() >= share {
			return Fault{}
		}
		f := faults[rng.IntN(len(faults))]
		if errors.Is(f.Err, storage.ErrUnsure) && c.Method != "Commit" {
			return Fault{}
		}
		return f
	}
}

var writes = map[string]bool{
	"Create": true, "Begin": true, "Try": true, "Acquit": true, "Commit": true, "Release": true, "Step": true,
	"Transact": true,
	"Send":     true, "EndToken": true, "TakeToken": true, "KeepToken": true, "Beat": true,
	"PutDefinition": true, "WriteRecords": true, "WriteAudit": true, "Sent": true, "Unsent": true, "Purge": true,
	"PostJob": true, "ClaimJobs": true, "RenewJob": true, "EndJob": true, "PurgeJobs": true,
	"PutSchedule": true, "MoveSchedule": true, "DeleteSchedule": true,
}
