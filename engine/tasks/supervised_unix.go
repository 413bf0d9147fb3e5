//go:build unix

package tasks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/supervisor"
)

// ownBinary is the file from which supervisors are started. On Linux it is the file with which this process started,
// even if another file has replaced it since.
var ownBinary = "/proc/self/exe"

// prepareSupervision reports whether supervisors can be started. On Linux they need a /proc
// that shows the processes of this process's own namespace.
func prepareSupervision() bool {
	if runtime.GOOS == "linux" {
		self, err := os.Readlink("/proc/self")
		return err == nil && self == strconv.Itoa(os.Getpid())
	}
	path, err := os.Executable()
	if err != nil {
		return false
	}
	ownBinary = path
	return true
}

// executeSupervised runs a program under a supervisor, see package supervisor.
func executeSupervised(ctx context.Context, program *exec.Cmd, started func(pid int)) (exit, error) {
	name, err := takeName(ctx)
	if err != nil {
		return exit{}, err
	}
	s, err := supervise(ctx, program, name)
	if name != nil {
		err = errors.Join(err, name.Close()) // now the supervisor alone holds it
	}
	if err != nil {
		return exit{}, err
	}
	defer func() { _ = s.control.Close() }() // all was read from it
	started(s.cmd.Process.Pid)
	finished := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { s.end(program.WaitDelay, finished) })
	err = s.cmd.Wait()
	stop()
	close(finished)
	return s.outcome(ctx, err)
}

// A supervised program has a supervisor.
type supervised struct {
	cmd     *exec.Cmd     // the supervisor
	program string        // the path of the program
	control *net.UnixConn // the supervisor ends the program when this is closed
}

// supervise starts a program's supervisor.
func supervise(ctx context.Context, program *exec.Cmd, name *os.File) (*supervised, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("cannot start the supervisor: %w", err)
	}
	s := &supervised{program: program.Path, control: ours}
	fence := strconv.FormatInt(atom.CurrentCall(ctx).Fence, 10)
	files, named := []*os.File{theirs}, "0"
	if name != nil {
		files, named = append(files, name), "1"
	}
	s.cmd = &exec.Cmd{
		Path: ownBinary, Args: append([]string{supervisor.Marker, fence, named, program.Path}, program.Args...),
		Env: program.Env, Dir: program.Dir, Stdin: program.Stdin, Stdout: program.Stdout, Stderr: program.Stderr,
		ExtraFiles: files, WaitDelay: program.WaitDelay,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}, // only Ebb receives a terminal's Ctrl-C
	}
	err = s.cmd.Start()
	_ = theirs.Close() // it is the supervisor's
	if err != nil {
		_ = ours.Close() // no process is at the other end
		//nolint:errorlint // the program may be there though the binary of Ebb is not
		return nil, fmt.Errorf("cannot start the supervisor: %v", err)
	}
	return s, nil
}

// socketPair returns the two ends of a socket.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(ends[0])
		syscall.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	file := os.NewFile(uintptr(ends[0]), "control")
	theirs = os.NewFile(uintptr(ends[1]), "supervisor")
	conn, err := net.FileConn(file)
	err = errors.Join(err, file.Close())
	if unix, ok := conn.(*net.UnixConn); ok && err == nil {
		return unix, theirs, nil
	}
	return nil, nil, errors.Join(err, theirs.Close())
}

// end has all processes terminated, and killed after grace unless the supervisor has finished.
func (s *supervised) end(grace time.Duration, finished <-chan struct{}) {
	_, _ = s.control.Write([]byte{supervisor.Terminate}) // the supervisor may have ended
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-finished:
	case <-timer.C:
		_ = s.control.CloseWrite() // as above
	}
}

// outcome returns how the program ended, once the supervisor has, with the error of waiting
// for that.
func (s *supervised) outcome(ctx context.Context, err error) (exit, error) {
	_ = s.control.SetReadDeadline(time.Now().Add(time.Second)) // all was written
	said, _ := io.ReadAll(s.control)                           // up to its end
	pid := 0
	var how *exit
	for ; len(said) >= supervisor.ReportSize; said = said[supervisor.ReportSize:] {
		switch r := supervisor.Decode(said); r.Kind {
		case supervisor.Started:
			pid = int(r.Value)
		case supervisor.Failed:
			return exit{}, &fs.PathError{Op: "fork/exec", Path: s.program, Err: syscall.Errno(r.Value)}
		case supervisor.Ended:
			e := exitBy(syscall.WaitStatus(r.Value))
			how = &e
		case supervisor.Left:
			atom.Logger(ctx).Warn(logevent.ProgramStuck, "program", s.program, "processes", r.Value)
		}
	}
	failure, broke := errors.AsType[*exec.ExitError](err)
	if broke { // the supervisor was killed
		endGroup(pid)
		err = nil
	}
	switch {
	case how != nil:
		return *how, err
	case broke && (pid > 0 || exitOf(failure.ProcessState).signal != ""):
		return exit{signal: signalNames[syscall.SIGKILL]}, nil // what the kernel did to the program
	case broke:
		return exit{}, fmt.Errorf("the supervisor did not start the program: %w", failure)
	}
	return exit{}, err
}

// endGroup kills the rest of a process group, and waits for its end.
func endGroup(pid int) {
	for begin := time.Now(); pid > 0 && killGroup(pid, syscall.SIGKILL) == nil && time.Since(begin) < time.Second; {
		time.Sleep(time.Millisecond)
	}
}
