package filelock

import "fmt"

// A Holder is a process that holds the lock of a file.
type Holder struct {
	PID     int
	Command string // the system's name of it; "" if unknown
	State   string // state, as ps shows it; "" if unknown
}

// The states of processes that do not continue by themselves.
const (
	stopped = "T"
	traced  = "t"
	zombie  = "Z"
)

// Stopped reports whether the process is stopped until another process lets it continue.
func (h *Holder) Stopped() bool { return h.State == stopped || h.State == traced }

// String names the process, such as: process 4711 ("ebb", stopped (T)).
func (h *Holder) String() string {
	if h.Command == "" {
		return fmt.Sprintf("process %d (ended, or of another user)", h.PID)
	}
	return fmt.Sprintf("process %d (%.64q, %s)", h.PID, h.Command, stateName(h.State))
}

// Helps returns a hint how the user can end the block by the process.
func (h *Holder) Helps() string {
	switch h.State {
	case stopped:
		return fmt.Sprintf("kill -CONT %d lets it continue, kill -9 %d ends it", h.PID, h.PID)
	case traced:
		return fmt.Sprintf("continue it in its debugger, or end it: kill -9 %d", h.PID)
	default:
		return fmt.Sprintf("kill -9 %d ends it", h.PID)
	}
}

func stateName(state string) string {
	name := map[string]string{
		"R": "running", "S": "sleeping", "D": "waiting for a disk", stopped: "stopped", traced: "stopped by a debugger",
		zombie: "ended", "I": "idle",
	}[state]
	if name == "" {
		return "state " + state
	}
	return name + " (" + state + ")"
}
