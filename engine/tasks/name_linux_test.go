package tasks_test

import (
	"context"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
)

// listenAs listens under a name as another user, on a thread that ends with the test.
func listenAs(t *testing.T, uid int, name string) {
	t.Helper()
	var fd int
	result, over := make(chan error), make(chan struct{})
	go func() {
		defer close(over)
		runtime.LockOSThread() // for good: no other goroutine can use the thread
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); e != 0 {
			result <- e
			return
		}
		var err error
		fd, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err == nil {
			err = syscall.Bind(fd, &syscall.SockaddrUnix{Name: name})
		}
		if err == nil {
			err = syscall.Listen(fd, 16)
		}
		result <- err
		for err == nil {
			conn, _, accepted := syscall.Accept(fd)
			if err = accepted; err == nil {
				_, _ = syscall.Write(conn, []byte("process 1 of \"/sbin/init\"\n"))
				err = syscall.Close(conn)
			}
		}
	}()
	if err := <-result; err != nil {
		t.Skipf("no socket of another user: %v", err)
	}
	t.Cleanup(func() {
		_ = syscall.Shutdown(fd, syscall.SHUT_RDWR) // ends accept
		<-over
		_ = syscall.Close(fd)
	})
}

// TestForeignName: a process of another user has taken the name of an atom. Its description is not read. The log names
// the user.
//
// Attack (Programs): Another user takes the name of an atom, to delay its attempts.
// Result: Bounded: 1 min, then the attempt fails; log and failure name the user. The name is a hash of database,
// creation time in µs, run ID and path, which every user sees in `/proc/net/unix` while a program runs. A supervisor
// accepts only its own user and root.
func TestForeignName(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	logged := testlog{lines: make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx = atom.WithHost(ctx, &atom.Call{Run: "run", Path: "path", Fence: 1}, scope{
		name: t.TempDir(),
		log:  hclog.New(&hclog.LoggerOptions{Output: logged}),
	})
	listenAs(t, 65534, tasks.NameOf(ctx))
	ended := make(chan error, 1)
	go func() {
		_, err := tasks.TakeName(ctx)
		ended <- err
	}()
	if line := <-logged.lines; !strings.Contains(line, "a process of user 65534 has the name") || strings.Contains(line,
		"init") {
		t.Errorf("it logged %q", line)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the name is free")
	}
}
