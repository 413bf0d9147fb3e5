package sqlstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
)

// TestWAL: the WAL does not grow with the written data, and is deleted at the end. The test waits for the goroutine
// that copies it now and then, because a busy machine may not run that goroutine.
func TestWAL(t *testing.T) {
	t.Parallel()
	file := filepath.Join(crashdisk.Careless(t), "runs.db")
	s := openFile(t, file)
	claim := beginRun(t, s, "a")
	const commits, round = 4000, 250 // of 18 pages each: after each round there is something to copy
	copies := func() int64 { c := s.Counts(); return c.Syncs - c.Commits }
	before := copies()
	for i := range int64(commits) {
		cp := nth(i)
		cp.Head.Refs = i + 1
		cp.Payloads = []backend.Payload{{Ref: i + 1, Data: make(atom.Value, 1<<16)}}
		if err := s.Commit(t.Context(), claim, cp); err != nil {
			t.Fatal(err)
		}
		if i%round == round-1 {
			for copies() == before {
				time.Sleep(time.Millisecond)
			}
			before = copies()
		}
	}
	info, err := os.Stat(file + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if most := int64((checkpointFrames + 3*checkpointPages) * pageSize); info.Size() > most {
		t.Errorf("the WAL has %d bytes after %d commits, want at most %d", info.Size(), commits, most)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + "-wal"); !os.IsNotExist(err) {
		t.Errorf("the WAL is left behind: %v", err)
	}
}

// TestWALBeginsAnew keeps a reader open while the log is copied, so that the end of the log cannot be copied. Once the
// reader has finished, the end is copied, and the log starts from its beginning and does not grow. All tests share the
// failpoints, so this one runs alone.
func TestWALBeginsAnew(t *testing.T) {
	file := filepath.Join(crashdisk.Careless(t), "runs.db")
	s := openFile(t, file)
	claim := beginRun(t, s, "a")
	for i, reading := int64(0), false; s.wal.at == 0; i++ { // until copying is due
		if s.writer.session.Pages > checkpointPages-checkpointRest/2 && !reading {
			reading = true
			read(t, file)
		}
		cp := nth(i)
		cp.Head.Refs = i + 1
		cp.Payloads = []backend.Payload{{Ref: i + 1, Data: make(atom.Value, 1<<16)}}
		if err := s.Commit(t.Context(), claim, cp); err != nil {
			t.Fatal(err)
		}
	}
	for c := s.Counts(); c.Syncs-c.Commits < 3; c = s.Counts() { // the copy, the rest, and the database
		time.Sleep(time.Millisecond)
	}
}

// read reads in a database of its own connection until the log is copied once.
func read(t *testing.T, file string) {
	t.Helper()
	db, err := dbfile.Connect(file, "rw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tx, err := db.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = tx.ExecContext(t.Context(), "SELECT n FROM runs")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(failpoint.ArmNth("sqlstore.walcheckpoint.after", 1, func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}))
}
