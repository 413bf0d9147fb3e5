package faultstore

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Call is a call of a method of a store.
type Call struct {
	Method     string // its name: Commit, Begin, Send …
	Nth        int    // number among the calls of this method, from 1
	Run        string // its run; "" if it concerns no single run
	Checkpoint *backend.Checkpoint
}

// A Fault describes how a call fails. With the zero Fault, the call does not fail.
type Fault struct {
	Delay time.Duration // waits before the call; the end of the call's context ends the wait
	Err   error         // the error that is returned
	Done  bool          // with Err: the call was done, and only its answer is lost
}

// Errors of stores.
var (
	// ErrBusy: the database is locked. A later call may succeed.
	ErrBusy = errors.New("faultstore: the database is locked")
	// ErrDisk: the disk is full or broken.
	ErrDisk = errors.New("faultstore: the disk is full")

	// Busy and Disk make a call fail, with nothing done.
	Busy = Fault{Err: ErrBusy}
	Disk = Fault{Err: ErrDisk}
	// Lost is a call that was done, and whose answer is lost. Unsure is a call that was not done. The caller cannot
	// distinguish them.
	Lost   = Fault{Err: storage.ErrUnsure, Done: true}
	Unsure = Fault{Err: storage.ErrUnsure}
)

// A Plan returns the Fault of a call. It is asked about one call at a time.
type Plan func(Call) Fault

// At makes the nth call of a method fail, from 1.
func At(method string, nth int, f Fault) Plan {
	return func(c Call) Fault {
		if c.Method == method && c.Nth == nth {
			return f
		}
		return Fault{}
	}
}

// From makes the nth call of a method and all later ones fail.
func From(method string, nth int, f Fault) Plan {
	return func(c Call) Fault {
		if c.Method == method && c.Nth >= nth {
			return f
		}
		return Fault{}
	}
}

// Writing makes the nth writing call fail, from 1.
func Writing(nth int, f Fault) Plan {
	n := 0
	return func(c Call) Fault {
		if writes[c.Method] {
			n++
		}
		if writes[c.Method] && n == nth {
			return f
		}
		return Fault{}
	}
}

// After makes all calls fail after the nth writing call.
func After(nth int, f Fault) Plan {
	n := 0
	return func(c Call) Fault {
		if n == nth {
			return f
		}
		if writes[c.Method] {
			n++
		}
		return Fault{}
	}
}

// Sometimes makes a share of the writing calls fail, with one of the faults, as the seed decides. Only Commit gets the
// faults that hide whether the call was done, because only Commit can be repeated without a check.
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
	"Create": true, "Begin": true, "BeginIsolated": true, "EndIsolation": true, "Commit": true, "Release": true,
	"Step":     true,
	"Transact": true,
	"Send":     true, "EndToken": true, "TakeToken": true, "KeepToken": true, "Beat": true,
	"PutDefinition": true, "WriteRecords": true, "WriteAudit": true, "Sent": true, "Unsent": true, "Purge": true,
	"PostJob": true, "ClaimJobs": true, "EndJob": true, "PurgeJobs": true,
	"PutSchedule": true, "MoveSchedule": true, "DeleteSchedule": true, "SetLimit": true,
}
