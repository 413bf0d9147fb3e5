//go:build unix

package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// crashes returns how many crashes a test makes: in CI the given number, usually a quarter.
func crashes(n int) int { return longtest.Count(n/4, n, 400) }

// dice are the same each time, unless a test makes all crashes: then the log says how to have the same again.
func dice(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if longtest.All() {
		seed = rand.Uint64()
		if again, err := strconv.ParseUint(os.Getenv("EBB_CRASH_SEED"), 10, 64); err == nil {
			seed = again
		}
		t.Logf("EBB_CRASH_SEED=%d", seed)
	}
	return rand.New(rand.NewPCG(seed, 0))
}

// A told holds the acknowledged commits: for each run, the last one.
type told struct {
	mu   sync.Mutex
	runs map[string]int64
	next int // number of the next run
	all  int
	each func(all int) // called after each; may be nil
}

func (w *told) acknowledge(run string, n int64) {
	w.mu.Lock()
	w.runs[run] = n
	w.all++
	all := w.all
	w.mu.Unlock()
	if w.each != nil {
		w.each(all)
	}
}

func (w *told) copy() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.runs)
}

// begin makes a run, and takes it up.
func (w *told) begin(s *sqlstore.Store) (backend.Claim, error) {
	w.mu.Lock()
	w.next++
	id := fmt.Sprint("run", w.next)
	w.mu.Unlock()
	if err := s.Create(context.Background(), storage.Run{ID: id}); err != nil {
		return backend.Claim{}, err
	}
	w.acknowledge(id, 0)
	claim, _, err := s.Begin(context.Background(), id)
	return claim, err
}

// work makes runs and commits to each a few times, until something fails.
func (w *told) work(s *sqlstore.Store, runs, commits int) error {
	for range runs {
		claim, err := w.begin(s)
		if err != nil {
			return err
		}
		for n := range int64(commits) {
			cp := checkpoint(n)
			if cp.Head.Refs = n/3 + 1; n%3 == 0 { // of several pages
				cp.Payloads = []backend.Payload{{Ref: n/3 + 1, Data: make([]byte, 10_000)}}
			}
			if err := s.Commit(context.Background(), claim, cp); err != nil {
				return err
			}
			w.acknowledge(claim.Run, n+1)
		}
		if err := add(context.Background(), s, claim, claim.Run); err != nil {
			return err
		}
		w.acknowledge(line(claim.Run), 1)
	}
	return nil
}

// line stands for a run's line in the user's table.
func line(run string) string { return "line of " + run }

// found opens the files that a crash left in a folder. It finds the acknowledged commits, and for each run at most the
// one more that was in progress.
func found(t *testing.T, dir string, acknowledged map[string]int64) {
	t.Helper()
	file := filepath.Join(dir, "runs.db")
	s := open(t, file)
	defer shut(t, s)
	lines := ledgerOf(t, file)
	for run, n := range acknowledged {
		if run, ok := strings.CutPrefix(run, line("")); ok {
			if lines[run] != 1 {
				t.Errorf("the user's table has %d lines of %s", lines[run], run)
			}
			continue
		}
		if got := whole(t, s, run); got != n && got != n+1 {
			t.Errorf("%s stands at %d, %d was acknowledged", run, got, n)
		}
	}
	runs, err := s.Runs(t.Context(), storage.RunQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		goOn(t, s, r.ID)
	}
	sound(t, file)
}

// ledgerOf returns the lines of the user's table, which may not be there.
func ledgerOf(t *testing.T, file string) map[string]int {
	t.Helper()
	db := raw(t, file)
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'ledger'").Scan(&tables); err != nil || tables == 0 {
		return nil
	}
	rows, err := db.Query("SELECT line FROM ledger")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	lines := map[string]int{}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines[line]++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// crash writes an image in both ways, and calls a function to check each.
func crash(t *testing.T, img *crashdisk.Image, rng *rand.Rand, look func(dir string)) {
	t.Helper()
	for _, layOut := range []func(string) error{img.Kill, func(dir string) error { return img.PowerCut(dir, rng) }} {
		dir := crashdisk.Careless(t)
		if err := layOut(dir); err != nil {
			t.Fatal(err)
		}
		if look(dir); t.Failed() {
			t.FailNow()
		}
	}
}

// TestCrashImages kills the process and cuts the power at syncs, while many
// commit together, the WAL is copied into the database, and the store is closed
// and opened (G1).
//
// Guarantee (G1): A power cut loses no acknowledged commit, whichever unsynced sectors survive, whole or torn.
// Also: ; after random file errors `TestCrashFaults`.
func TestCrashImages(t *testing.T) {
	t.Parallel()
	rng, dir, w := dice(t), t.TempDir(), &told{runs: map[string]int64{}}
	images := crashdisk.Images(t, dir, crashes(40), rng, func() any { return w.copy() }, func() {
		for range 1 + crashes(40)/40 {
			s := open(t, filepath.Join(dir, "runs.db"))
			db := raw(t, filepath.Join(dir, "runs.db"))
			w.each = func(all int) {
				if modes := []string{"PASSIVE", "RESTART", "TRUNCATE"}; all%11 == 0 {
					if err := db.QueryRow("PRAGMA wal_checkpoint(" + modes[all%3] + ")").Err(); err != nil {
						t.Error(err)
					}
				}
			}
			var workers sync.WaitGroup
			for range 3 {
				workers.Go(func() {
					if err := w.work(s, 3, 12); err != nil {
						t.Error(err)
					}
				})
			}
			workers.Wait()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			shut(t, s)
		}
	})
	for i, img := range images {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			crash(t, img, rng, func(dir string) { found(t, dir, img.Note.(map[string]int64)) })
		})
	}
}

// TestCrashInOpen kills the process and cuts the power while a database is created,
// and while a later migration changes one.
//
// Guarantee (G1): After a kill or power cut during creation, or migration from any schema, the database opens.
func TestCrashInOpen(t *testing.T) {
	t.Parallel()
	rng := dice(t)
	later := sqlstore.WithMigrations(sqlstore.Later("CREATE TABLE later (n INTEGER); ALTER TABLE runs ADD COLUMN later INTEGER NOT NULL DEFAULT 7;", ""))
	for _, from := range append(fixtures(t), "") {
		dir := t.TempDir()
		file := filepath.Join(dir, "runs.db")
		if from != "" {
			dir = filepath.Dir(copyFixture(t, from))
			file = filepath.Join(dir, "runs.db")
		}
		disk := crashdisk.Watch(t, dir)
		var images []*crashdisk.Image
		disk.OnOp(func(op crashdisk.Op) {
			if op.Kind != crashdisk.Read && op.Kind != crashdisk.Lock {
				images = append(images, disk.Image())
			}
		})
		shut(t, open(t, file, later))
		disk.OnOp(nil)
		for range crashes(20) {
			at, rng := rng.IntN(len(images)), rand.New(rand.NewPCG(rng.Uint64(), 0))
			t.Run(fmt.Sprintf("%s at %d of %d", filepath.Base(from), at, len(images)), func(t *testing.T) {
				t.Parallel()
				crash(t, images[at], rng, func(dir string) {
					if found := filepath.Join(dir, "runs.db"); from != "" {
						sameAsWritten(t, from, found, later)
						sound(t, found)
					} else {
						s := open(t, found, later)
						defer shut(t, s)
						if err := s.Create(t.Context(), storage.Run{ID: "a"}); err != nil {
							t.Fatal(err)
						}
						goOn(t, s, "a")
					}
				})
			})
		}
	}
}

// TestTornWAL damages the end of the WAL, or its middle. The database then has the complete state after some commit.
//
// Guarantee (G1): A database with a damaged WAL shows the state after some commit.
func TestTornWAL(t *testing.T) {
	t.Parallel()
	rng, w := dice(t), &told{runs: map[string]int64{}}
	dir := crashdisk.Careless(t)
	s := open(t, filepath.Join(dir, "runs.db"))
	t.Cleanup(func() { shut(t, s) })
	if err := w.work(s, 3, 6); err != nil {
		t.Fatal(err)
	}
	disk := t.TempDir()
	for _, name := range []string{"runs.db", "runs.db-wal"} { // the store is open still
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(disk, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wal, err := os.ReadFile(filepath.Join(disk, "runs.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	const schema = 300_000 // about so much of it is the making of the tables
	for i := range crashes(40) {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			torn := slices.Clone(wal)
			at := schema + rng.IntN(len(torn)-schema)
			if i%2 == 0 {
				torn = torn[:at]
			} else {
				torn[at] ^= 1 << rng.IntN(8)
			}
			to := crashdisk.Careless(t)
			write(t, filepath.Join(to, "runs.db-wal"), string(torn))
			db, err := os.ReadFile(filepath.Join(disk, "runs.db"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(to, "runs.db"), string(db))
			found(t, to, nil)
		})
	}
}

// TestFsyncThatLoses lets a sync fail as on Linux: the data is not on the disk, although every process can read it, and
// later syncs succeed. The process is killed, another one continues, then the power is cut. Every commit that the other
// process acknowledged is there.
func TestFsyncThatLoses(t *testing.T) {
	t.Parallel()
	first, second, w := t.TempDir(), t.TempDir(), &told{runs: map[string]int64{}}
	disk := crashdisk.Watch(t, first)
	s := open(t, filepath.Join(first, "runs.db"))
	defer func() { _ = s.Close() }()
	if err := w.work(s, 1, 3); err != nil {
		t.Fatal(err)
	}
	disk.Inject(crashdisk.Fault{Kind: crashdisk.Sync, File: crashdisk.WAL, Lose: true})
	if err := w.work(s, 1, 1); !errors.Is(err, sqlstore.ErrBroken) {
		t.Fatalf("a commit without a sync: %v", err)
	}
	disk = disk.Image().Restart(t, second)
	reader := raw(t, filepath.Join(second, "runs.db")) // opens first, and keeps the WAL from being removed
	var tables int
	if err := reader.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables == 0 {
		t.Fatal(tables, err)
	}
	other := open(t, filepath.Join(second, "runs.db"))
	defer shut(t, other)
	w.next += 10
	if err := w.work(other, 2, 3); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		crash(t, disk.Image(), rng, func(dir string) { found(t, dir, w.copy()) })
	}
}
