package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/childtest"
)

// TestProgramsDieWithProcess kills the process that runs a program: all that the program
// started ends, and so does the supervisor.
//
// Attack (Programs): SIGKILL of Ebb while a program has children: after double forks, in own sessions, stopped, deaf to
// SIGTERM, forking without end.
// Result: Each program's supervisor, a child subreaper, kills every descendant when its socket to Ebb closes.
func TestProgramsDieWithProcess(t *testing.T) {
	t.Parallel()
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, family := grow(t, tree, "sleep 600 & wait")
			child := childtest.Start(t, childFolder+"="+dir, "CHILD="+dir)
			waitReady(t, dir)
			child.Kill()
			waitGone(t, "CHILD="+dir) // the supervisor, too
			waitGone(t, family)
		})
	}
}

// TestProgramEndsAttempt: when a program ends its attempt has ended, and nothing that it started is left.
//
// Attack (Programs): Children of a program that ends or is canceled: after double forks, in own sessions, stopped, deaf
// to SIGTERM.
// Result: The attempt ends when none is left.
// Also: `TestCanceledProgramLeavesNothing`.
func TestProgramEndsAttempt(t *testing.T) {
	t.Parallel()
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, family := grow(t, tree, `echo '"done"'`)
			body, err := (&tasks.Registry{Dir: dir, Grace: time.Minute}).Task("exec:./task.sh")
			if err != nil {
				t.Fatal(err)
			}
			got, err := body.Execute(t.Context(), atom.Single(atom.Null))
			if err != nil || got.String() != `"done"` {
				t.Errorf("got %v, %v", got, err)
			}
			noneLeft(t, family)
		})
	}
}

// TestCanceledProgramLeavesNothing: when the call of a program has been canceled, and its grace is over,
// nothing that it started is left.
func TestCanceledProgramLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, family := grow(t, tree, "trap '' TERM; while :; do sleep 1; done")
			body, err := (&tasks.Registry{Dir: dir, Grace: 50 * time.Millisecond}).Task("exec:./task.sh")
			if err != nil {
				t.Fatal(err)
			}
			wanted := errors.New("no longer wanted")
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := body.Execute(ctx, atom.Single(atom.Null))
				ended <- err
			}()
			waitReady(t, dir)
			cancel(wanted)
			if err := <-ended; !errors.Is(err, wanted) {
				t.Errorf("got %v; want the context's cause", err)
			}
			noneLeft(t, family)
		})
	}
}

// TestTerminatedTreeHasGrace: when the call is canceled, the processes that a program started may end in their own way.
// This holds although the program itself has ended at once, and they are in their own session.
func TestTerminatedTreeHasGrace(t *testing.T) {
	t.Parallel()
	dir, family := grow(t, `
		setsid sh -c 'trap "sleep 0.3; : >tidy; exit" TERM; : >armed; while :; do sleep 0.01; done' &
		while ! [ -e armed ]; do sleep 0.01; done`, "wait")
	body, err := (&tasks.Registry{Dir: dir, Grace: time.Minute}).Task("exec:./task.sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := body.Execute(ctx, atom.Single(atom.Null))
		ended <- err
	}()
	waitReady(t, dir)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tidy")); err != nil {
		t.Error("it was not given the time: ", err)
	}
	noneLeft(t, family)
}

// TestSupervisorKilled: when a supervisor is killed, its program's group ends, and the attempt has
// failed as if the program had been killed.
//
// Attack (Programs): SIGKILL of a program's supervisor.
// Result: Bounded: the kernel kills the program, Ebb its process group. A descendant in its own session lives on.
func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	dir, family := grow(t, trees["in the background"], "echo $PPID >supervisor.new; mv supervisor.new supervisor; wait")
	body, err := (&tasks.Registry{Dir: dir}).Task("exec:./task.sh")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := body.Execute(t.Context(), atom.Single(atom.Null))
		ended <- err
	}()
	var pid int
	waitFor(t, "the supervisor is known", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "supervisor"))
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err != nil || string(name) != "task-supervisor\n" {
		t.Fatalf("the parent of the program is %q, %v", name, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if f := failure(<-ended); f == nil || f.Code != "Exec.SignalKILL" {
		t.Errorf("got %v", f)
	}
	waitGone(t, family)
}

// TestProgramDescriptors: a program has no descriptors but its input and outputs, and the default
// actions of signals.
//
// Attack (Programs): A program reads Ebb's sockets, database files or supervisor socket.
// Result: The supervisor passes on only descriptors 0, 1 and 2.
func TestProgramDescriptors(t *testing.T) {
	t.Parallel()
	leaky, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = leaky.Close() }()        // it was only opened
	leaked, err := syscall.Dup(int(leaky.Fd())) // as a parent that does not use O_CLOEXEC would pass it on
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(leaked) }() // as above
	dir := t.TempDir()
	list := filepath.Join(dir, "list")
	script(t, filepath.Join(dir, "task.sh"), `ls -l /proc/self/fd >`+list+
		`; grep -E "^Sig(Blk|Ign):" /proc/self/status >>`+list)
	body, err := (&tasks.Registry{Dir: dir}).Task("exec:./task.sh")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := body.Execute(t.Context(), atom.Single(atom.Null)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), os.DevNull) || strings.Contains(string(text), "socket:") {
		t.Errorf("a descriptor was handed on:\n%s", text)
	}
	if !strings.Contains(string(text), "SigBlk:\t0000000000000000\n") {
		t.Errorf("signals are blocked:\n%s", text)
	}
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, ignored, _ := strings.Cut(string(own), "SigIgn:") // such as SIGHUP, under nohup
	ignored, _, _ = strings.Cut(ignored, "\n")
	if !strings.Contains(string(text), "SigIgn:"+ignored+"\n") {
		t.Errorf("other signals are ignored than the%s that this process ignores:\n%s", ignored, text)
	}
}

// TestNextAttemptEndsEarlier: an attempt under a later fence ends all that an earlier attempt in another
// process has left, before its own program starts.
//
// Guarantee (G2): On Linux, with `ebb` or `tasks.Supervise`, [programs](attacks.md#programs) of two attempts of an
// atom never run at once on a machine, and end with their call and with Ebb.
// Also: `TestProgramsDieWithProcess`.
//
// Attack (Programs): SIGKILL of one of two servers at random moments, on SQLite and PostgreSQL.
// Result: While any of its processes lives, a program holds a name on the machine. The next attempt has it killed, and
// waits.
// Also: `cmd/ebb: TestAttemptsDoNotOverlap`.
func TestNextAttemptEndsEarlier(t *testing.T) {
	t.Parallel()
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, family := grow(t, tree, "sleep 600 & wait")
			child := childtest.Start(t, childFolder+"="+dir)
			waitReady(t, dir)
			script(t, filepath.Join(dir, "next.sh"), "echo null")
			next, err := (&tasks.Registry{Dir: dir}).Task("exec:./next.sh")
			if err != nil {
				t.Fatal(err)
			}
			call := &atom.Call{Run: "run", Path: "path", Fence: childFence + 1, Revert: true}
			ctx := atom.WithHost(t.Context(), call, scope{name: dir, log: hclog.NewNullLogger()})
			if _, err := next.Execute(ctx, atom.Single(atom.Null)); err != nil {
				t.Error(err)
			}
			noneLeft(t, family)
			if said := child.Line(); !strings.Contains(said, "Exec.SignalKILL") {
				t.Errorf("the earlier attempt ended with %q", said)
			}
		})
	}
}

// TestStaleAttemptWaits: an attempt under an older fence does not start its program beside that of the owner,
// and says which program it waits for.
//
// Attack (Programs): A process that lost its run starts a stale attempt.
// Result: It has an older fence: it kills nothing, and waits.
func TestStaleAttemptWaits(t *testing.T) {
	t.Parallel()
	dir, family := grow(t, "", "echo $$ >pid.new; mv pid.new pid; sleep 600")
	child := childtest.Start(t, childFolder+"="+dir)
	var pid string
	waitFor(t, "the program has started", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "pid"))
		pid = strings.TrimSpace(string(text))
		return err == nil
	})
	script(t, filepath.Join(dir, "stale.sh"), ": >"+dir+"/started")
	stale, err := (&tasks.Registry{Dir: dir}).Task("exec:./stale.sh")
	if err != nil {
		t.Fatal(err)
	}
	logged := testlog{lines: make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	call := &atom.Call{Run: "run", Path: "path", Fence: childFence - 1}
	ctx = atom.WithHost(ctx, call, scope{name: dir, log: hclog.New(&hclog.LoggerOptions{Output: logged})})
	ended := make(chan error, 1)
	go func() {
		_, err := stale.Execute(ctx, atom.Single(atom.Null))
		ended <- err
	}()
	if line := <-logged.lines; !strings.Contains(line, "process "+pid+" of ") || !strings.Contains(line, dir+"/task.sh") {
		t.Errorf("it logged %q; the program is process %s", line, pid)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil || len(members(t, family)) == 0 {
		t.Error("the stale attempt started its program, or ended that of the owner")
	}
	child.Kill()
	waitGone(t, family)
}

// A testlog passes on log entries.
type testlog struct{ lines chan string }

func (l testlog) Write(line []byte) (int, error) {
	l.lines <- string(line)
	return len(line), nil
}

// TestInitOfContainer runs a program from process 1 of a namespace, whose children all orphans
// become.
//
// Attack (Programs): Orphans in a container whose process 1 is Ebb.
// Result: The supervisor waits for them.
func TestInitOfContainer(t *testing.T) {
	t.Parallel()
	dir, family := grow(t, trees["double fork"]+"\n"+trees["session of its own"], `echo null`)
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", os.Args[0])
	cmd.Env = append(os.Environ(), childFolder+"="+dir, "CHILD="+dir)
	if out, err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("needs namespaces: %v, %s", err, out)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	noneLeft(t, family)
}

// TestUnsupervised: a process that does not call Supervise runs programs, too.
func TestUnsupervised(t *testing.T) {
	t.Parallel()
	if os.Getenv(unsupervised) != "" {
		t.Skip("this is that process")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0],
		"-test.run=^(TestExec|TestExecEnvironment|TestExecKillsGroup|TestExecTimeout)$")
	cmd.Env = append(os.Environ(), unsupervised+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
