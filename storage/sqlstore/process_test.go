//go:build unix

package sqlstore_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/storage"
)

// sound fails the test unless SQLite finds the file in order.
func sound(t *testing.T, file string) {
	t.Helper()
	db := raw(t, file)
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity check: %s, %v", verdict, err)
	}
}

// raw opens the file without Ebb.
func raw(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// whole fails the test unless the run stands after the nth checkpoint, in all
// tables, and returns n.
func whole(t *testing.T, s backend.Store, run string) int64 {
	t.Helper()
	r, err := s.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	history, err := s.History(t.Context(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	undos, err := s.Undos(t.Context(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	attempt := 0
	if a, err := s.Atom(t.Context(), run, "x"); err == nil {
		attempt = a.Attempt
	} else if !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	if n := r.Seq; r.Entries != n || r.Undos != n || int64(len(history)) != n || int64(len(undos)) != n || int64(attempt) != n {
		t.Errorf("half a checkpoint: seq %d, entries %d (%d), undos %d (%d), atom %d",
			n, r.Entries, len(history), r.Undos, len(undos), attempt)
	}
	return r.Seq
}

// TestKilledInCommit kills a process on either side of a COMMIT. Another process continues its runs at once.
func TestKilledInCommit(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]int64{
		"sqlstore.commit.before": 2, // the third is not there
		"sqlstore.commit.after":  3, // the third is there, though no reply arrived
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "runs.db")
			p := start(t, "commit", file, place)
			run := p.Line()
			told := ""
			for line := p.Line(); line != ""; line = p.Line() {
				told = line
			}
			if !p.Killed() || told != "2" {
				t.Fatalf("the child was told of commit %q, state %v", told, p.ProcessState)
			}
			s := open(t, file)
			defer shut(t, s)
			if got := whole(t, s, run); got != want {
				t.Errorf("the run stands at %d, want %d", got, want)
			}
			goOn(t, s, run)
			sound(t, file)
		})
	}
}

// goOn takes a run over, and commits.
func goOn(t *testing.T, s backend.Store, run string) {
	t.Helper()
	claim, snap, err := s.Begin(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	cp := checkpoint(snap.Run.Seq)
	cp.Head.Refs = snap.Run.Refs
	if err := s.Commit(t.Context(), claim, cp); err != nil {
		t.Fatal(err)
	}
	if got := whole(t, s, run); got != snap.Run.Seq+1 {
		t.Errorf("the run stands at %d after %d", got, snap.Run.Seq)
	}
}

func shut(t *testing.T, s backend.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestKilledAtRandom kills processes in the middle of their commits, and finds all acknowledged ones.
//
// Guarantee (G1): After a kill at a random moment, all acknowledged commits are there, and at most one more.
// Also: `cmd/ebb: TestCrashAnywhere`.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	for round := range 6 {
		p := start(t, "endless", file, "")
		run := p.Line()
		told := int64(0)
		for range 1 + round*37 {
			told, _ = strconv.ParseInt(p.Line(), 10, 64)
		}
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for line := p.Line(); line != ""; line = p.Line() {
			told, _ = strconv.ParseInt(line, 10, 64)
		}
		if !p.Killed() || told == 0 {
			t.Fatalf("the child ended by itself after %d: %v", told, p.ProcessState)
		}
		s := open(t, file)
		if got := whole(t, s, run); got < told || got > told+1 {
			t.Errorf("the child was told of %d commits, there are %d", told, got)
		}
		goOn(t, s, run)
		shut(t, s)
	}
	sound(t, file)
}

// TestKilledInTransact kills a process on either side of the COMMIT of a user's
// SQL: its row is there exactly when its record is, so the same again makes it
// once.
func TestKilledInTransact(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]int{"sqlstore.commit.before": 2, "sqlstore.commit.after": 3} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "runs.db")
			p := start(t, "transact", file, place)
			run := p.Line()
			for p.Line() != "" {
				continue
			}
			if !p.Killed() {
				t.Fatalf("the child ended by itself: %v", p.ProcessState)
			}
			db := raw(t, file)
			count := func() (lines, distinct int) {
				t.Helper()
				if err := db.QueryRow("SELECT count(*), count(DISTINCT line) FROM ledger").Scan(&lines, &distinct); err != nil {
					t.Fatal(err)
				}
				return lines, distinct
			}
			s := open(t, file)
			defer shut(t, s)
			if lines, _ := count(); lines != want {
				t.Errorf("the ledger has %d lines, want %d", lines, want)
			}
			claim, _, err := s.Begin(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 5 {
				if err := add(t.Context(), s, claim, strconv.Itoa(i)); err != nil {
					t.Fatal(err)
				}
			}
			if lines, distinct := count(); lines != 5 || distinct != 5 {
				t.Errorf("the ledger has %d lines, %d different ones, want 5", lines, distinct)
			}
		})
	}
}

func TestKilledInMigration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	if p := start(t, "commit", file, "sqlstore.migrate"); !p.Killed() {
		t.Fatalf("the child ended by itself: %v", p.ProcessState)
	}
	s := open(t, file)
	defer shut(t, s)
	if err := s.Create(t.Context(), storage.Run{ID: "a"}); err != nil {
		t.Error(err)
	}
	goOn(t, s, "a")
}

func TestKilledInWALCheckpoint(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"sqlstore.walcheckpoint.before", "sqlstore.walcheckpoint.after"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "runs.db")
			p := start(t, "commit", file, place)
			run, told := p.Line(), int64(0)
			for line := p.Line(); line != ""; line = p.Line() {
				told, _ = strconv.ParseInt(line, 10, 64)
			}
			if !p.Killed() || told < 100 {
				t.Fatalf("the child ended after %d: %v", told, p.ProcessState)
			}
			s := open(t, file)
			defer shut(t, s)
			if got := whole(t, s, run); got < told {
				t.Errorf("the child was told of %d commits, there are %d", told, got)
			}
			goOn(t, s, run)
			sound(t, file)
		})
	}
}

// TestProcessesTakeTurns has processes write to one file as fast as they can.
//
// Guarantee (G6): Three processes that write to one file at full speed finish with every commit.
func TestProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	defer shut(t, s)
	children := []*childtest.Process{start(t, "commit", file, ""), start(t, "commit", file, "")}
	if err := s.Create(t.Context(), storage.Run{ID: "mine"}); err != nil {
		t.Fatal(err)
	}
	claim, _, err := s.Begin(t.Context(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	runs := []string{children[0].Line(), children[1].Line()}
	for i := range int64(300) {
		if err := s.Commit(t.Context(), claim, checkpoint(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range children {
		last := ""
		for line := p.Line(); line != ""; line = p.Line() {
			last = line
		}
		if err := p.Wait(); err != nil || last != "2000" {
			t.Errorf("child %d ended at %q: %v", i, last, err)
		}
		if got := whole(t, s, runs[i]); got != 2000 {
			t.Errorf("run %s stands at %d", runs[i], got)
		}
	}
	if got := whole(t, s, "mine"); got != 300 {
		t.Errorf("the parent's run stands at %d", got)
	}
	sound(t, file)
}

// TestChangedByAnotherProcess waits for what another process writes. The deadline
// is only for a wake-up that is lost.
func TestChangedByAnotherProcess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	defer shut(t, s)
	changed := s.Changed()
	start(t, "hold", file, "")
	select {
	case <-changed:
	case <-time.After(5 * time.Minute):
		t.Error("the channel was not closed")
	}
}

// TestOwnCommitsDoNotNotify commits while a goroutine waits: nothing has come.
func TestOwnCommitsDoNotNotify(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "runs.db"))
	defer shut(t, s)
	if err := s.Create(t.Context(), storage.Run{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	claim, _, err := s.Begin(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	changed := s.Changed()
	for deadline := time.Now().Add(200 * time.Millisecond); time.Now().Before(deadline); {
		r, err := s.Run(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(t.Context(), claim, checkpoint(r.Seq)); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-changed:
		t.Error("the channel was closed by the store's own commits")
	default:
	}
	if err := s.Send(t.Context(), storage.Message{Run: "a"}); err != nil {
		t.Fatal(err)
	}
	<-changed
}
