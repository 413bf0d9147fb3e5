package exit

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// An Aim is the state in which a command wants a run to come to rest. If the run does, the command exits with 0.
// The zero Aim is SUCCESS. A run that lacked a mock reaches no aim, since its test is incomplete.
type Aim struct {
	Reached func(run *storage.Run) bool
	Wanted  string // such as "expected REVERTED"
}

// Expect returns the aim of --expect; "" is the zero Aim.
func Expect(state string) Aim {
	if state == "" {
		return Aim{}
	}
	return Aim{func(run *storage.Run) bool { return run.State.String() == state }, "expected " + state}
}

// Status returns the exit status of a run that came to rest, and would give the status without an aim.
func (a *Aim) Status(status int, run *storage.Run) int {
	switch {
	case a.Reached == nil:
		return status
	case a.Reached(run) && !LacksMock(run):
		return Success
	case status == Success:
		return Failure
	default:
		return status
	}
}

// LacksMock reports whether the run failed because a test has no mock for one of its states.
func LacksMock(run *storage.Run) bool {
	return run.Failure != nil && run.Failure.Code == atom.CodeNoMock
}

// Missed returns the error of a run that succeeded although the aim was another state.
func (a *Aim) Missed(run *storage.Run) error {
	return fmt.Errorf("%s, and the run ended %s", a.Wanted, run.State)
}
