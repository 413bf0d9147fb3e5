//go:build unix

package sqlstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// unlock takes the lock of a process away that is not to be waited for.
func unlock(t *testing.T, s backend.Store, file string, pid int) {
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

func contentsOf(t *testing.T, s backend.Store, run string) (c contents) {
	t.Helper()
	var errs [4]error
	c.Run, errs[0] = s.Run(t.Context(), run)
	c.Atoms, errs[1] = s.Atoms(t.Context(), run, storage.AtomQuery{})
	c.History, errs[2] = s.History(t.Context(), run, 0, 0)
	c.Undos, errs[3] = s.Undos(t.Context(), run, 0, 0)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestStopped stops the process that owns a run. It removes the process's lock by hand, because a stopped process looks
// like one that works, and lets another take the run over. When the first one wakes, its writes are refused.
//
// Guarantee (G6): A stopped process that lost its run is refused when it wakes. It cancels its calls, writes and undoes
// nothing, and can own runs again. On SQLite the test removes its lock by hand.
// Also: `TestServerStopped`, `engine: TestEvictedOwner`, `TestStoppedOwner`.
func TestStopped(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	defer shut(t, s)
	p := start(t, "told", file, "")
	run := p.Line()
	p.Tell("go on")
	if said := p.Line(); said != "committed" {
		t.Fatal(said)
	}
	_, turn := gates(file)
	p.Halt(turn)
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
	run := p.Line()
	p.Tell("go on")
	if said := p.Line(); said != "committed" {
		t.Fatal(said)
	}
	p.Halt("")
	wakesFenced(t, s, p, run)
}

// wakesFenced takes a run over from a stopped process, which is then woken and
// writes.
func wakesFenced(t *testing.T, s *sqlstore.Store, p *childtest.Process, run string) {
	t.Helper()
	var claim backend.Claim
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
	p.Tell("go on")
	p.Wake()
	for range 3 {
		if said := p.Line(); said != "fenced" {
			t.Errorf("the former owner's commit was %s, want it refused", said)
		}
		p.Tell("go on")
	}
	if diff := cmp.Diff(before, contentsOf(t, s, run)); diff != "" {
		t.Errorf("the former owner wrote (-before +after):\n%s", diff)
	}
	if err := s.Commit(t.Context(), claim, checkpoint(2)); err != nil {
		t.Error(err)
	}
	whole(t, s, run)
}
