package crashdisk_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/ebbflow/ebb/internal/crashdisk"
)

const pragmas = "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(20)&_pragma=busy_timeout(0)"

func openDB(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "it.db")+pragmas)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(db *sql.DB, query string, args ...any) error {
	_, err := db.Exec(query, args...)
	return err
}

// rows opens and checks the files of an image. It returns the number of rows, or 0 without a table.
func rows(t *testing.T, dir string) (n int) {
	t.Helper()
	db := openDB(t, dir)
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity check: %q, %v", verdict, err)
	}
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables > 0 {
		var last int
		if err := db.QueryRow("SELECT count(*), coalesce(max(i), 0) FROM t").Scan(&n, &last); err != nil || n != last {
			t.Fatalf("%d rows up to %d, %v", n, last, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestImages takes images at the syncs of single inserts, also during WAL checkpoints. Each image holds the
// acknowledged inserts, or these and the current one.
func TestImages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	acknowledged := 0
	images := crashdisk.Images(t, dir, 40, rng, func() any { return acknowledged }, func() {
		db := openDB(t, dir)
		if err := exec(db, "CREATE TABLE t (i INTEGER PRIMARY KEY, x)"); err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			if err := exec(db, "INSERT INTO t VALUES (?, ?)", i+1, fmt.Sprintf("%0*d", i%3*1000, i)); err != nil {
				t.Fatal(err)
			}
			acknowledged = i + 1
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if len(images) != 40 {
		t.Fatalf("%d images", len(images))
	}
	found := map[int]int{}
	for _, img := range images {
		for way, layOut := range map[string]func(string) error{
			"kill":      img.Kill,
			"power cut": func(dir string) error { return img.PowerCut(dir, rng) },
		} {
			to := t.TempDir()
			if err := layOut(to); err != nil {
				t.Fatal(err)
			}
			n := rows(t, to)
			if told := img.Note.(int); n != told && n != told+1 {
				t.Errorf("%s: %d rows, %d were acknowledged", way, n, told)
			} else {
				found[n-told]++
			}
		}
	}
	if found[0] == 0 || found[1] == 0 {
		t.Errorf("every image had the commit that was under way, or none had: %v", found)
	}
}

// TestLyingDisk shows that images can reveal a fault: without syncs, commits are lost or torn.
func TestLyingDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := crashdisk.Watch(t, dir)
	db := openDB(t, dir)
	if err := exec(db, "CREATE TABLE t (i INTEGER PRIMARY KEY, x)"); err != nil {
		t.Fatal(err)
	}
	if err := exec(db, "PRAGMA synchronous = OFF"); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := exec(db, "INSERT INTO t VALUES (?, '')", i+1); err != nil {
			t.Fatal(err)
		}
	}
	lost := 0
	for seed := range uint64(20) {
		to := t.TempDir()
		if err := disk.Image().PowerCut(to, rand.New(rand.NewPCG(seed, 0))); err != nil {
			t.Fatal(err)
		}
		if rows(t, to) < 10 {
			lost++
		}
	}
	if lost == 0 {
		t.Error("a power cut lost nothing of what was never synced")
	}
}

// TestFaults makes each operation fail in turn. SQLite returns the error.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, f := range []crashdisk.Fault{
		{Kind: crashdisk.Sync, File: crashdisk.WAL},
		{Kind: crashdisk.Sync, File: crashdisk.WAL, Lose: true},
		{Kind: crashdisk.Write, File: crashdisk.WAL, Nth: 2},
		{Kind: crashdisk.Write, Short: 100, Code: 13}, // SQLITE_FULL
		{Kind: crashdisk.Lock, For: -1, Code: 5},      // SQLITE_BUSY
	} {
		t.Run(fmt.Sprintf("%+v", f), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			disk := crashdisk.Watch(t, dir)
			db := openDB(t, dir)
			if err := exec(db, "CREATE TABLE t (i INTEGER PRIMARY KEY, x)"); err != nil {
				t.Fatal(err)
			}
			hits := disk.Inject(f)
			if err := exec(db, "INSERT INTO t VALUES (1, '')"); err == nil || hits() == 0 {
				t.Errorf("an insert went well: %v, %d hits", err, hits())
			}
			disk.Heal()
			if err := exec(db, "INSERT OR REPLACE INTO t VALUES (1, '')"); err != nil {
				t.Errorf("after the fault: %v", err)
			}
		})
	}
}

// TestRestart loses a commit in a failed sync, kills the process, and commits once more in another process, which
// cannot know of the loss. A power cut then shows it.
func TestRestart(t *testing.T) {
	t.Parallel()
	dir, second := t.TempDir(), t.TempDir()
	disk := crashdisk.Watch(t, dir)
	db := openDB(t, dir)
	if err := exec(db, "CREATE TABLE t (i INTEGER PRIMARY KEY, x)"); err != nil {
		t.Fatal(err)
	}
	disk.Inject(crashdisk.Fault{Kind: crashdisk.Sync, File: crashdisk.WAL, Lose: true})
	if err := exec(db, "INSERT INTO t VALUES (1, '')"); err == nil {
		t.Fatal("a commit without a sync")
	}
	disk = disk.Image().Restart(t, second)
	db = openDB(t, second)
	if err := exec(db, "INSERT INTO t VALUES (2, '')"); err != nil {
		t.Fatal(err)
	}
	third := t.TempDir()
	if err := disk.Image().PowerCut(third, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	if n := rows(t, third); n != 0 {
		t.Errorf("%d rows; want none, as the second stands in the WAL behind the first, which is lost", n)
	}
}
