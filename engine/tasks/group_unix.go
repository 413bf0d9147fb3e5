//go:build unix

package tasks

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// A group is a program and all that it starts.
type group struct{ cmd *exec.Cmd }

// inGroup makes cmd the head of a process group of its own.
func inGroup(cmd *exec.Cmd) group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	return group{cmd}
}

// run runs the program to its end, then kills what is left of the group.
func (g group) run() error {
	// To the kernel the parent that a program dies with is the thread that
	// started it, so that thread has to live as long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := g.cmd.Start(); err != nil {
		return err
	}
	err := g.cmd.Wait()
	_ = g.signal(syscall.SIGKILL) // nearly always there is nothing left
	return err
}

// terminate asks the group to end.
func (g group) terminate() error { return g.signal(syscall.SIGTERM) }

func (g group) signal(sig syscall.Signal) error {
	err := syscall.Kill(-g.cmd.Process.Pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// signalled returns the name of the signal that ended a process, such as KILL,
// or "".
func signalled(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	if name := signalNames[status.Signal()]; name != "" {
		return name
	}
	return strconv.Itoa(int(status.Signal()))
}

// signalNames are the signals that end programs, by their POSIX names.
var signalNames = map[syscall.Signal]string{
	syscall.SIGABRT: "ABRT", syscall.SIGALRM: "ALRM", syscall.SIGBUS: "BUS", syscall.SIGFPE: "FPE",
	syscall.SIGHUP: "HUP", syscall.SIGILL: "ILL", syscall.SIGINT: "INT", syscall.SIGKILL: "KILL",
	syscall.SIGPIPE: "PIPE", syscall.SIGQUIT: "QUIT", syscall.SIGSEGV: "SEGV", syscall.SIGSYS: "SYS",
	syscall.SIGTERM: "TERM", syscall.SIGTRAP: "TRAP", syscall.SIGUSR1: "USR1", syscall.SIGUSR2: "USR2",
	syscall.SIGXCPU: "XCPU", syscall.SIGXFSZ: "XFSZ",
}
