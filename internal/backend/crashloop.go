package backend

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// LostWindow is how long the death of a process counts against the runs that it drove. If none of a run's owners dies
// for that long, its count of deaths begins at zero again.
const LostWindow = time.Hour

// CrashLoopDeaths is the [storage.Run.Lost] from which a run is in a crash loop. Any process may die for other reasons,
// so one death proves nothing about the runs that the process drove.
const CrashLoopDeaths = 2

// Points that the death of a process adds to the proof against the only isolated run.
const (
	ProofAlone  = 3 // the process drove no other run
	ProofBeside = 1 // the process also drove other runs, during which no process had died
)

// MayKillProcesses reports whether at the given time the run counts as one that may kill the processes that drive it.
func MayKillProcesses(r *storage.Run, now time.Time) bool {
	return r.Lost >= CrashLoopDeaths && now.Sub(r.CrashLoop.Died) < LostWindow
}

// CrashLoops is the part of a [Store] with which a process finds out which run kills the processes that drive it.
type CrashLoops interface {
	// BeginIsolated is Begin, and the run is isolated until its claim ends or [CrashLoops.EndIsolation] is called. If the
	// store's owner dies meanwhile, the death counts only against its isolated runs. If there is exactly one, the
	// run is blamed, and its Proof rises.
	BeginIsolated(ctx context.Context, run string) (Claim, *Snapshot, error)
	// EndIsolation ends the isolation of the claim's run: the run is no longer blamed, and its Proof is zero. If the claim
	// is void, it returns ErrFenced.
	EndIsolation(ctx context.Context, claim Claim) error
	// Deaths returns how many dead owners this store has found since it was opened. An owner that closed its store
	// does not count.
	Deaths() int64
}
