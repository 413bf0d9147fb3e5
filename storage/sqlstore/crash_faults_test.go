//go:build unix

package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// session is what TestCrashFaults breaks: a store is opened, written, emptied of
// its log in the middle, closed, opened and written again.
func session(w *told, file string) error {
	for range 2 {
		s, err := sqlstore.Open(context.Background(), file)
		if err != nil {
			return err
		}
		err = w.work(s, 2, 4)
		if err == nil {
			err = emptied(file)
		}
		if err == nil {
			err = w.work(s, 1, 3)
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// emptied copies the WAL into the database, as the store does when there is
// enough of it.
func emptied(file string) error {
	db, err := sql.Open("sqlite", file+"?_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	if err := errors.Join(db.QueryRow("PRAGMA wal_checkpoint(RESTART)").Err(), db.Close()); err != nil {
		return fmt.Errorf("empty the log of %s: %w", file, err)
	}
	return nil
}

// TestCrashFaults makes each operation of a session fail in turn, or one in many. The error says where and what, and
// the store can be closed. Every acknowledged commit is there when the file is opened again, after a kill, and after a
// power cut (G1).
func TestCrashFaults(t *testing.T) {
	t.Parallel()
	rng, dir := dice(t), t.TempDir()
	clean := crashdisk.Watch(t, dir)
	if err := session(&told{runs: map[string]int64{}}, filepath.Join(dir, "runs.db")); err != nil {
		t.Fatal(err)
	}
	var failed atomic.Int64
	t.Cleanup(func() {
		if t.Logf("%d sessions failed", failed.Load()); failed.Load() == 0 {
			t.Error("no fault did anything")
		}
	})
	for _, f := range []crashdisk.Fault{
		{Kind: crashdisk.Write, File: crashdisk.WAL},
		{Kind: crashdisk.Write, File: crashdisk.WAL, Short: 700},
		{Kind: crashdisk.Write, File: crashdisk.WAL, Code: sqlite3.SQLITE_FULL, Short: 9},
		{Kind: crashdisk.Write, File: crashdisk.DB},
		{Kind: crashdisk.Write, File: crashdisk.DB, Code: sqlite3.SQLITE_FULL},
		{Kind: crashdisk.Write, File: crashdisk.Journal},
		{Kind: crashdisk.Sync, File: crashdisk.WAL},
		{Kind: crashdisk.Sync, File: crashdisk.WAL, Lose: true},
		{Kind: crashdisk.Sync, File: crashdisk.DB},
		{Kind: crashdisk.Sync, File: crashdisk.DB, Lose: true},
		{Kind: crashdisk.Sync, File: crashdisk.Journal},
		{Kind: crashdisk.Truncate, File: crashdisk.WAL},
		{Kind: crashdisk.Truncate, File: crashdisk.DB},
		{Kind: crashdisk.Read, File: crashdisk.DB},
		{Kind: crashdisk.Read, File: crashdisk.WAL},
		{Kind: crashdisk.Open, File: crashdisk.DB},
		{Kind: crashdisk.Open, File: crashdisk.WAL},
		{Kind: crashdisk.Delete, File: crashdisk.WAL},
		{Kind: crashdisk.Lock, Code: sqlite3.SQLITE_BUSY},
		{Kind: crashdisk.Lock, Code: sqlite3.SQLITE_IOERR_LOCK},
	} {
		all := clean.Count(f.Kind, f.File)
		if f.File == "" {
			all = clean.Count(f.Kind, crashdisk.DB)
		}
		for range min(all, crashes(8)) {
			f.Nth = 1 + rng.IntN(all)
			rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
			t.Run(fmt.Sprintf("%+v of %d", f, all), func(t *testing.T) {
				t.Parallel()
				if breakOne(t, f, rng) {
					failed.Add(1)
				}
			})
		}
	}
}

// breakOne runs a session with one fault, and reports whether it failed.
func breakOne(t *testing.T, f crashdisk.Fault, rng *rand.Rand) bool {
	t.Helper()
	dir, w := t.TempDir(), &told{runs: map[string]int64{}}
	file := filepath.Join(dir, "runs.db")
	disk := crashdisk.Watch(t, dir)
	disk.Inject(f)
	err := session(w, file)
	if err != nil && !strings.Contains(err.Error(), file) && !errors.Is(err, errUsers) {
		t.Errorf("the error does not say where: %v", err)
	}
	disk.Heal()
	crash(t, disk.Image(), rng, func(dir string) { found(t, dir, w.copy()) })
	found(t, dir, w.copy())
	return err != nil
}
