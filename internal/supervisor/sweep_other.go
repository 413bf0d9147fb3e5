//go:build unix && !linux

package supervisor

import (
	"syscall"
	"time"
)

const waitAll = 0

func becomeSupervisor() {
	syscall.CloseOnExec(ControlFD)
	syscall.CloseOnExec(NameFD)
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// terminate sends SIGTERM to the program's group.
func (s *supervision) terminate() { _ = syscall.Kill(-s.program, syscall.SIGTERM) }

// sweep sends SIGKILL to the program's group. Its counts are 1 or 0.
func (s *supervision) sweep() (killed, left int) {
	if syscall.Kill(-s.program, syscall.SIGKILL) != nil {
		return 0, 0
	}
	if !s.known[s.program] {
		s.known[s.program] = true
		killed = 1
	}
	return killed, 1
}

// waitForGroup waits until the program's group has ended, because its processes are not children of this one. After the
// given time, they have been killed.
func (s *supervision) waitForGroup() {
	if !s.terminating.Load() {
		s.kill()
	}
	for syscall.Kill(-s.program, 0) == nil {
		time.Sleep(sweepPause)
	}
}
