//go:build unix

package supervisor

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

func init() { //nolint:gochecknoinits // must run before main's other packages
	if len(os.Args) < 5 || os.Args[0] != Marker || !isSocket(ControlFD) {
		return
	}
	// For the kernel, the parent with which a program dies is the thread that started it.
	runtime.LockOSThread()
	supervise(os.Args[1], os.Args[2] == "1", os.Args[3], os.Args[4:])
	os.Exit(0)
}

func isSocket(fd int) bool {
	var stat syscall.Stat_t
	return syscall.Fstat(fd, &stat) == nil && stat.Mode&syscall.S_IFMT == syscall.S_IFSOCK
}

// A supervision is the state of a supervisor.
type supervision struct {
	program     int         // process ID of the program and its group
	path        string      // for people
	fence       uint64      // of the owner that started the program
	ended       atomic.Bool // the program
	terminating atomic.Bool
	killing     sync.Once
	known       map[int]bool // processes that SIGKILL was sent to
}

// supervise runs the program. It returns when no process of it is left.
func supervise(fence string, named bool, path string, args []string) {
	becomeSupervisor()
	hear()
	s := &supervision{path: path, fence: number(fence), known: map[int]bool{}}
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{ //nolint:gosec // running programs is the purpose
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: attributes(),
	})
	if err != nil {
		errno, _ := err.(syscall.Errno) //nolint:errorlint // package errors would initialize more packages first
		report(Failed, uint32(errno))
		return
	}
	// The pipes belong to the program: Ebb must see when the program closes them.
	_, _ = syscall.Close(0), syscall.Close(1)
	s.program = pid
	report(Started, uint32(pid))
	go s.control()
	if named {
		go s.yield()
	}
	s.reap()
}

// hear keeps this process alive after signals for programs: a service manager may send SIGTERM to all processes of a
// service. Ignored signals stay ignored, because the program inherits that.
func hear() {
	ignored := make(chan os.Signal, 1) // no goroutine receives from it
	for _, sig := range []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
		syscall.SIGUSR2,
	} {
		if !signal.Ignored(sig) {
			signal.Notify(ignored, sig)
		}
	}
}

// number returns the number in a text.
func number(text string) uint64 {
	n := uint64(0)
	for _, c := range []byte(text) {
		n = 10*n + uint64(c-'0')
	}
	return n
}

// report sends a report to Ebb. If Ebb is gone, the report is lost.
func report(kind ReportKind, value uint32) {
	_, _ = syscall.Write(ControlFD, Report{kind, value}.Append(nil))
}

// control carries out Ebb's requests until Ebb closes its end.
func (s *supervision) control() {
	var said [1]byte
	for {
		n, err := syscall.Read(ControlFD, said[:])
		switch {
		case err == syscall.EINTR:
		case n == 1 && said[0] == Terminate:
			s.terminating.Store(true)
			s.terminate()
		default:
			s.kill()
			return
		}
	}
}

// reap waits for the ends of all children.
func (s *supervision) reap() {
	options := waitAll
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, options, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			s.waitForGroup()
			return // no children are left
		case pid == 0: // the program has ended, but not all processes that it started
			options = waitAll
			s.kill()
		case pid == s.program:
			s.ended.Store(true)
			report(Ended, uint32(status))
			if !s.terminating.Load() {
				options |= syscall.WNOHANG
			}
		}
	}
}

// kill has SIGKILL sent to all processes, and does not wait.
func (s *supervision) kill() {
	s.killing.Do(func() { go s.sweepUntilGone() })
}
