//go:build unix

// Package childtest lets tests start their own binary as another process. Tests exchange lines with the process, stop
// it as Ctrl-Z does, and kill it.
package childtest

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/ebbflow/ebb/internal/filelock"
)

// A Process is a child process. It writes its standard error to that of the test.
type Process struct {
	*exec.Cmd

	tb  testing.TB
	in  io.WriteCloser
	out *bufio.Scanner
}

// Start starts the test's binary with additional variables, each as NAME=VALUE, by which its TestMain knows its role.
// The process is killed when the test ends. Its standard input is open until then, unless the test closes it.
func Start(tb testing.TB, env ...string) *Process {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0]) //nolint:gosec // the test's own binary
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p := &Process{Cmd: cmd, tb: tb, in: in, out: bufio.NewScanner(out)}
	tb.Cleanup(p.Kill)
	return p
}

// Line returns the next line of the child's output, or "" at its end.
func (p *Process) Line() string {
	if !p.out.Scan() {
		return ""
	}
	return p.out.Text()
}

// Tell sends the child a line.
func (p *Process) Tell(line string) {
	p.tb.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.tb.Fatal(err)
	}
}

// EndInput closes the child's standard input.
func (p *Process) EndInput() {
	p.tb.Helper()
	if err := p.in.Close(); err != nil {
		p.tb.Fatal(err)
	}
}

// Halt stops the child as Ctrl-Z does, and waits until the child has stopped. It does
// not stop the child while the child holds the lock at the path turn: all other
// processes would wait for their turn to write. If turn is "", there is no lock.
func (p *Process) Halt(turn string) {
	p.tb.Helper()
	for {
		p.signal(syscall.SIGSTOP)
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil)
		for errors.Is(err, syscall.EINTR) {
			_, err = syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil)
		}
		if err != nil || !status.Stopped() {
			p.tb.Fatalf("the child did not stop: %v, %v", status, err)
		}
		if turn == "" || !p.locked(turn) {
			return
		}
		p.Wake()
	}
}

// Wake continues the child after Halt.
func (p *Process) Wake() {
	p.tb.Helper()
	p.signal(syscall.SIGCONT)
}

func (p *Process) signal(signal os.Signal) {
	p.tb.Helper()
	if err := p.Process.Signal(signal); err != nil {
		p.tb.Fatal(err)
	}
}

// locked reports whether a process holds a lock.
func (p *Process) locked(path string) bool {
	p.tb.Helper()
	lock, err := filelock.Open(path, nil)
	if err != nil {
		p.tb.Fatal(err)
	}
	err = lock.Try()
	if lock.Close() != nil || err != nil && !errors.Is(err, filelock.ErrLocked) {
		p.tb.Fatal(err)
	}
	return err != nil
}

// Kill kills the child, which may have ended, and waits for its end.
func (p *Process) Kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// Killed waits for the child's end and reports whether SIGKILL ended it.
func (p *Process) Killed() bool {
	_ = p.Wait() // says the same as the state
	status, ok := p.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
