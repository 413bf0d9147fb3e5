package storage

import (
	"context"
	"fmt"
	"time"
)

// When a process dies, all runs that it drives stop, and one of them may be the cause. Stores count such deaths. A
// process that takes a run over can put the run on trial: if the process dies then, the store blames the runs on
// trial and not the others. docs/explanation/deaths.md describes how [github.com/ebbflow/ebb/engine] finds the
// cause.

// LostWindow is how long the death of a process counts against the runs that it drove. If none of a run's owners dies
// for that long, its count of deaths begins at zero again.
const LostWindow = time.Hour

// SuspectLost is the [Run.Lost] from which a run is a suspect. Any process may die for other reasons, so one death
// proves nothing about the runs that the process drove.
const SuspectLost = 2

// Points that the death of a process adds to the proof against the only run on trial.
const (
	ProofAlone  = 3 // the process drove no other run
	ProofBeside = 1 // the process also drove other runs, during which no process had died
)

// Suspicion describes whether a run kills the processes that drive it.
type Suspicion struct {
	Proof int64     // sum of [ProofAlone] and [ProofBeside] over the deaths since the run last passed a trial
	Trial Trial     // whether it is on trial
	Died  time.Time // when the store noticed the last death that [Run.Lost] counts
	By    Process   // the process that died last
}

// Trial is the stage of a run's trial: one process drives the run to find out whether the run kills that process.
type Trial uint8

// The stages of the trial that finds a run that kills its processes. A run may be in both.
const (
	OnTrial Trial = 1 << iota // the run is on trial
	Accused                   // a process died while the run was on trial
)

// A Process names a process that owned a run.
type Process struct {
	Owner string `json:"owner"`          // id of the owner, see [Owner]
	Host  string `json:"host,omitempty"` // name of its machine
	PID   int    `json:"pid,omitempty"`  // its process ID there
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

// Process returns the owner's id, host and process ID.
func (o *Owner) Process() Process { return Process{Owner: o.ID, Host: o.Host, PID: o.PID} }

// Suspect reports whether the run counts as a suspect at the given time.
func (r *Run) Suspect(now time.Time) bool {
	return r.Lost >= SuspectLost && now.Sub(r.Suspicion.Died) < LostWindow
}

// Suspects is the part of a [Store] with which a process finds out which run kills the processes that drive it.
type Suspects interface {
	// Try is Begin, and puts the run on trial until its claim ends or [Suspects.Acquit] ends the trial. If the
	// store's owner dies meanwhile, the death counts only against its runs on trial. If exactly one run is on
	// trial, the run is accused, and its Proof rises.
	Try(ctx context.Context, run string) (Claim, *Snapshot, error)
	// Acquit ends the trial of the claim's run: the run is no longer accused, and its Proof is zero. If the claim
	// is void, it returns ErrFenced.
	Acquit(ctx context.Context, claim Claim) error
	// Deaths returns how many dead owners this store has found since it was opened. An owner that closed its store
	// does not count.
	Deaths() int64
}
