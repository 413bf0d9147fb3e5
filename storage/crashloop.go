package storage

import (
	"fmt"
	"time"
)

// When a process dies, all runs that it drives stop, and one of them may be the cause. Stores count such deaths. A
// process that takes a run over can isolate the run: if the process dies then, the store blames the isolated runs and
// not the others. docs/explanation/deaths.md describes how [github.com/ebbflow/ebb/engine] finds the
// cause.

// CrashLoop describes whether a run kills the processes that drive it.
type CrashLoop struct {
	Proof     int64     // points of the deaths since the run last passed an isolated start
	Isolation Isolation // whether it is isolated or blamed
	Died      time.Time // when the store noticed the last death that [Run.Lost] counts
	By        Process   // the process that died last
}

// Isolation says whether one process drives the run to find out whether the run kills that process.
type Isolation uint8

// A run may be in both.
const (
	Isolated Isolation = 1 << iota // the run is isolated
	Blamed                         // a process died while the run was isolated
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
