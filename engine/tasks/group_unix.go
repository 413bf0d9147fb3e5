//go:build unix

package tasks

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// execute runs a command that was made with ctx to its end, and ends all processes that it started. It calls started
// with the ID of the command or of its supervisor.
func execute(ctx context.Context, cmd *exec.Cmd, started func(pid int)) (exit, error) {
	if cmd.Err != nil {
		return exit{}, cmd.Err
	}
	if supervising.Load() {
		return executeSupervised(ctx, cmd, started)
	}
	g := inGroup(cmd)
	cmd.Cancel = g.terminate
	err := g.run(started)
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitOf(failure.ProcessState), nil
	}
	return exit{}, err
}

// A group is a program with all processes that it starts.
type group struct{ cmd *exec.Cmd }

// inGroup makes cmd the head of a process group of its own.
func inGroup(cmd *exec.Cmd) group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	return group{cmd}
}

// run runs the program to its end, then kills what is left of the group.
func (g group) run(started func(pid int)) error {
	// For the kernel, the parent with which a program dies is the thread that started it, so this thread must live as
	// long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := g.cmd.Start(); err != nil {
		return err
	}
	started(g.cmd.Process.Pid)
	err := g.cmd.Wait()
	_ = killGroup(g.cmd.Process.Pid, syscall.SIGKILL) // usually nothing is left
	return err
}

// terminate asks the group to end.
func (g group) terminate() error { return killGroup(g.cmd.Process.Pid, syscall.SIGTERM) }

// killGroup sends a signal to a process group.
func killGroup(pid int, sig syscall.Signal) error {
	err := syscall.Kill(-pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// exitOf returns how a process ended.
func exitOf(state *os.ProcessState) exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok {
		return exit{status: state.ExitCode()}
	}
	return exitBy(status)
}

// exitBy returns the exit of a wait status.
func exitBy(status syscall.WaitStatus) exit {
	if !status.Signaled() {
		return exit{status: status.ExitStatus()}
	}
	name := signalNames[status.Signal()]
	if name == "" {
		name = strconv.Itoa(int(status.Signal()))
	}
	return exit{signal: name}
}

// signalNames are the signals that end programs, by their POSIX names.
var signalNames = map[syscall.Signal]string{
	syscall.SIGABRT: "ABRT", syscall.SIGALRM: "ALRM", syscall.SIGBUS: "BUS", syscall.SIGFPE: "FPE",
	syscall.SIGHUP: "HUP", syscall.SIGILL: "ILL", syscall.SIGINT: "INT", syscall.SIGKILL: "KILL",
	syscall.SIGPIPE: "PIPE", syscall.SIGQUIT: "QUIT", syscall.SIGSEGV: "SEGV", syscall.SIGSYS: "SYS",
	syscall.SIGTERM: "TERM", syscall.SIGTRAP: "TRAP", syscall.SIGUSR1: "USR1", syscall.SIGUSR2: "USR2",
	syscall.SIGXCPU: "XCPU", syscall.SIGXFSZ: "XFSZ",
}
