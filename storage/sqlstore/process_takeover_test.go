//go:build unix

package sqlstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestOwnerInAnotherProcess asks for a run that another process owns, kills that
// one, and has the run at once.
//
// Guarantee (G6): Ebb refuses a run that the same process drives, or another until it is killed.
// Also: `engine: TestOneOwner`.
func TestOwnerInAnotherProcess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	defer shut(t, s)
	p := start(t, "hold", file, "")
	run := p.Line()
	_, _, err := s.Begin(t.Context(), run)
	var owned *storage.OwnedError
	if !errors.As(err, &owned) {
		t.Fatalf("Begin of another process's run: %v", err)
	}
	if o := owned.Owner; o.PID != p.Process.Pid || o.Host == "" || !o.Alive {
		t.Errorf("the owner is %+v, want process %d", o, p.Process.Pid)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !p.Killed() {
		t.Fatal("the child is not dead")
	}
	owners, err := s.Owners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range owners {
		if alive := o.PID == os.Getpid(); o.Alive != alive {
			t.Errorf("owner %d is said to be alive: %v", o.PID, o.Alive)
		}
	}
	due, err := s.Runs(t.Context(), storage.RunQuery{Due: time.Now().Add(time.Minute)})
	if err != nil || len(due) != 1 || due[0].ID != run {
		t.Errorf("due runs: %+v, %v", due, err)
	}
	goOn(t, s, run)
	if left, err := filepath.Glob(file + "-owner-*"); err != nil || len(left) != 1 {
		t.Errorf("lock files: %v, %v", left, err)
	}
}

// TestTakeoverInBegin is the same without a look for due runs in between.
func TestTakeoverInBegin(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	defer shut(t, s)
	p := start(t, "hold", file, "")
	run := p.Line()
	p.Kill()
	goOn(t, s, run)
	if left, err := filepath.Glob(file + "-owner-*"); err != nil || len(left) != 1 {
		t.Errorf("lock files: %v, %v", left, err)
	}
	if owners, err := s.Owners(t.Context()); err != nil || len(owners) != 1 {
		t.Errorf("owners: %+v, %v", owners, err)
	}
}

// TestTakeoverRace has several stores find out at the same time that an owner is dead. One gets the run, and the others
// learn which.
func TestTakeoverRace(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	stores := []*sqlstore.Store{open(t, file), open(t, file), open(t, file)}
	defer func() {
		for _, s := range stores {
			shut(t, s)
		}
	}()
	p := start(t, "hold", file, "")
	run := p.Line()
	p.Kill()
	begun := make(chan string, 2*len(stores))
	owners := map[string]bool{}
	for _, s := range stores {
		owners[s.Owner().ID] = true
		go func() {
			_, err := s.Owners(context.Background())
			if err != nil {
				t.Error(err)
			}
			if _, err := s.Runs(context.Background(), storage.RunQuery{Due: time.Now()}); err != nil {
				t.Error(err)
			}
			begun <- ""
		}()
		go func() {
			_, _, err := s.Begin(context.Background(), run)
			owned, refused := errors.AsType[*storage.OwnedError](err)
			switch {
			case refused:
				begun <- owned.Owner.ID
			case err != nil:
				t.Error(err)
				begun <- ""
			default:
				begun <- "me"
			}
		}()
	}
	won := 0
	for range 2 * len(stores) {
		switch id := <-begun; {
		case id == "me":
			won++
		case id != "" && !owners[id]:
			t.Errorf("refused on account of %s, who is dead", id)
		}
	}
	if won != 1 {
		t.Errorf("%d stores got the run", won)
	}
}
