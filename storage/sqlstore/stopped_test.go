//go:build unix

package sqlstore_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// tell gives a child a line, and returns what it answers.
func (p *process) tell(t *testing.T) string {
	t.Helper()
	p.write(t)
	return p.line()
}

func (p *process) write(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(p.stdin, "go on\n"); err != nil {
		t.Fatal(err)
	}
}

// halt stops a child as Ctrl-Z does, while it is not writing to the file: a process
// that is stopped with its turn to write holds up everybody.
func (p *process) halt(t *testing.T, file string) {
	t.Helper()
	for {
		p.send(t, syscall.SIGSTOP)
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil)
		for errors.Is(err, syscall.EINTR) {
			_, err = syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil)
		}
		if err != nil || !status.Stopped() {
			t.Fatalf("the child did not stop: %v, %v", status, err)
		}
		if !writing(t, file) {
			return
		}
		p.send(t, syscall.SIGCONT)
	}
}

func (p *process) send(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// writing reports whether somebody has the turn to write to the file; "" is none.
func writing(t *testing.T, file string) bool {
	t.Helper()
	if file == "" {
		return false
	}
	turn, err := filelock.Open(file + "-turn-b")
	if err != nil {
		t.Fatal(err)
	}
	err = turn.Try()
	if turn.Close() != nil || err != nil && !errors.Is(err, filelock.ErrLocked) {
		t.Fatal(err)
	}
	return err != nil
}

// unlock takes the lock of a process away that is not to be waited for.
func unlock(t *testing.T, s storage.Store, file string, pid int) {
	t.Helper()
	owners, err := s.Owners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range owners {
		if o.PID == pid {
			if err := os.Remove(file + "-owner-" + o.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// contents is all that tests write of a run.
type contents struct {
	Run     storage.Run
	Atoms   []storage.Atom
	History []storage.Entry
	Undos   []storage.Undo
}

func contentsOf(t *testing.T, s storage.Store, run string) (c contents) {
	t.Helper()
	var errs [4]error
	c.Run, errs[0] = s.Run(t.Context(), run)
	c.Atoms, errs[1] = s.Atoms(t.Context(), run)
	c.History, errs[2] = s.History(t.Context(), run, 0, 0)
	c.Undos, errs[3] = s.Undos(t.Context(), run, 0)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestStopped stops the process that owns a run, has its lock taken away by hand, as
// there is no other way to tell a stopped process from one that works, and lets
// another take the run over. Woken, the first one is refused what it writes.
func TestStopped(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	defer shut(t, s)
	p := start(t, "told", file, "")
	run := p.line()
	if told := p.tell(t); told != "committed" {
		t.Fatal(told)
	}
	p.halt(t, file)
	var owned *storage.OwnedError
	if _, _, err := s.Begin(t.Context(), run); !errors.As(err, &owned) {
		t.Fatalf("Begin of a stopped process's run: %v", err)
	}
	unlock(t, s, file, p.Process.Pid)
	wakesFenced(t, s, p, run)
	sound(t, file)
}

// TestServerStopped stops the process that owns a run for longer than its lease.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := openServer(t, dsn)
	defer shut(t, s)
	p := start(t, "told", dsn, "")
	run := p.line()
	if told := p.tell(t); told != "committed" {
		t.Fatal(told)
	}
	p.halt(t, "")
	wakesFenced(t, s, p, run)
}

// wakesFenced takes a run over from a stopped process, which is then woken and
// writes.
func wakesFenced(t *testing.T, s *sqlstore.Store, p *process, run string) {
	t.Helper()
	var claim storage.Claim
	soon(t, "the run is taken over", func() bool {
		var err error
		claim, _, err = s.Begin(t.Context(), run)
		if _, owned := errors.AsType[*storage.OwnedError](err); err != nil && !owned {
			t.Fatal(err)
		}
		return err == nil
	})
	if err := s.Commit(t.Context(), claim, checkpoint(1)); err != nil {
		t.Fatal(err)
	}
	before := contentsOf(t, s, run)
	p.write(t)
	p.send(t, syscall.SIGCONT)
	for range 3 {
		if said := p.line(); said != "fenced" {
			t.Errorf("the former owner's commit was %s, want it refused", said)
		}
		p.write(t)
	}
	if diff := cmp.Diff(before, contentsOf(t, s, run)); diff != "" {
		t.Errorf("the former owner wrote (-before +after):\n%s", diff)
	}
	if err := s.Commit(t.Context(), claim, checkpoint(2)); err != nil {
		t.Error(err)
	}
	whole(t, s, run)
}
