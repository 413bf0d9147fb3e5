package sqlstore_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestCounts compares the store's count of its syncs with the syncs of the disk, over so many commits that the log is
// copied several times.
func TestCounts(t *testing.T) {
	dir := t.TempDir()
	var synced atomic.Int64
	crashdisk.Watch(t, dir).OnOp(func(op crashdisk.Op) {
		if op.Kind == crashdisk.Sync {
			synced.Add(1)
		}
	})
	store := open(t, filepath.Join(dir, "counted.db"))
	steps := newStepper(t, store, "a")
	before, syncedBefore := store.Counts(), synced.Load()
	const commits = 5000
	for range commits {
		if err := steps.step(); err != nil {
			t.Fatal(err)
		}
	}
	after := store.Counts()
	got := sqlstore.Counts{Commits: after.Commits - before.Commits, Rows: after.Rows - before.Rows, Syncs: after.Syncs - before.Syncs}
	want := synced.Load() - syncedBefore
	t.Logf("%+v; synced %d times", got, want)
	if got.Commits != commits || got.Rows < 2*commits {
		t.Errorf("%d commits of %d rows; want %d", got.Commits, got.Rows, commits)
	}
	const near = commits / 100 // a copy may be under way, and a commit come between it and its being counted
	if got.Syncs <= commits || got.Syncs < want-near || got.Syncs > want+near {
		t.Errorf("the store counts %d syncs; there were %d", got.Syncs, want)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// TestCountedBytes: on a server too, where one statement writes the arguments of many rows, the bytes are those of the
// values.
func TestCountedBytes(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]*sqlstore.Store{
		"file": open(t, filepath.Join(t.TempDir(), "counted.db")), "server": openServer(t, migrated(t)),
	} {
		steps, before := newStepper(t, store, "a"), store.Counts().Bytes
		const commits = 20
		for range commits {
			if err := steps.step(); err != nil {
				t.Fatal(err)
			}
		}
		// A result is in the record and in the history.
		if got := (store.Counts().Bytes - before) / commits; got < 300 || got > 3000 {
			t.Errorf("%s: a step of two results of 100 bytes wrote %d", name, got)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}
