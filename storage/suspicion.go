package storage

import (
	"context"
	"fmt"
	"time"
)

// A process that dies takes all runs down that it drives, and one of them may be why it
// died. Stores count such deaths, and a process that takes a run up can say that the run
// is on trial: if the process dies then, the runs on trial are blamed and the others are
// not. See docs/explanation/deaths.md for how [github.com/ebbflow/ebb/engine] finds the
// cause.

// LostWindow is how long a death counts: a run that no process has died with for so long
// begins anew.
const LostWindow = time.Hour

// SuspectLost is the Lost from which on a run is a suspect. Every process dies at some
// point, so one death says nothing about the runs that the process drove.
const SuspectLost = 2

// What the death of a process proves about the only run on trial.
const (
	ProofAlone  = 3 // the process drove no other run
	ProofBeside = 1 // it also drove runs that had not killed it until then
)

// Suspicion describes a run that may have killed the processes that drove it.
type Suspicion struct {
	Proof int64     // sum of what deaths proved since it last passed a trial, see [ProofAlone]
	Trial Trial     // whether it is on trial
	Died  time.Time // when the last death that Lost counts was noticed
	By    Process   // that process
}

// Trial says whether a run is on trial.
type Trial uint8

// The stages of a trial.
const (
	OnTrial Trial = 1 << iota // a process that dies now dies because of it
	Accused                   // a process died while the run was on trial
)

// A Process names a process that owned a run.
type Process struct {
	Owner string `json:"owner"` // its id as an owner
	Host  string `json:"host,omitempty"`
	PID   int    `json:"pid,omitempty"`
}

// String returns "process 4711 on db1".
func (p Process) String() string {
	switch {
	case p.PID == 0:
		return "a process"
	case p.Host == "":
		return fmt.Sprintf("process %d", p.PID)
	default:
		return fmt.Sprintf("process %d on %s", p.PID, p.Host)
	}
}

// Process returns the process that is the owner.
func (o *Owner) Process() Process { return Process{Owner: o.ID, Host: o.Host, PID: o.PID} }

// Suspect reports whether the deaths of processes make the run a suspect at that time.
func (r *Run) Suspect(now time.Time) bool {
	return r.Lost >= SuspectLost && now.Sub(r.Suspicion.Died) < LostWindow
}

// Suspects is how a process finds out which run kills the processes that drive it.
type Suspects interface {
	// Try is Begin, and puts the run on trial until its claim ends, or [Suspects.Acquit].
	// If the store's owner dies meanwhile, only its runs on trial count the death; if
	// there is one, it is accused, and the death proves something about it.
	Try(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Acquit ends the trial of a run that the claim owns: it is accused no more, and nothing
	// is proved. It returns ErrFenced when the claim is void.
	Acquit(ctx context.Context, claim Claim) error
	// Deaths returns how many owners this store has found dead since it was opened. One
	// that closed its store does not count.
	Deaths() int64
}
