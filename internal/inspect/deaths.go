package inspect

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// SetAside reports whether a run was suspended because it kills the processes that drive it,
// or needs more memory than they have.
func SetAside(run *storage.Run) bool {
	return run.Hold && run.Failure != nil && (run.Failure.Code == atom.CodeLost || run.Failure.Code == atom.CodeLimit)
}

// Deaths describes the deaths of processes that a run may have caused.
type Deaths struct {
	Count    int64     `json:"count"`          // number of deaths that count against the run
	Last     time.Time `json:"last"`           // time of the last of them
	PID      int       `json:"pid,omitempty"`  // process ID of the process that died last
	Host     string    `json:"host,omitempty"` // host of that process
	Isolated bool      `json:"isolated"`       // one process drives only this run, to find out whether the run kills it
	Blamed   bool      `json:"blamed"`         // a process died while the run was isolated
}

func deathsOf(run *storage.Run, now time.Time) *Deaths {
	s := &run.CrashLoop
	if run.State.Ended() || !backend.MayKillProcesses(run, now) {
		return nil
	}
	return &Deaths{
		Count: run.Lost, Last: s.Died.UTC(), PID: s.By.PID, Host: s.By.Host,
		Isolated: s.Isolation&storage.Isolated != 0, Blamed: s.Isolation&storage.Blamed != 0,
	}
}
