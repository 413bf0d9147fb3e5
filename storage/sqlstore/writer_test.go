package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
)

func openFile(t *testing.T, file string) *store {
	t.Helper()
	s, err := openStore(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func beginRun(t *testing.T, s *store, id string) backend.Claim {
	t.Helper()
	if err := s.Create(t.Context(), storage.Run{ID: id}); err != nil {
		t.Fatal(err)
	}
	claim, _, err := s.Begin(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

func nth(n int64) *backend.Checkpoint {
	return &backend.Checkpoint{
		Head:    backend.Head{Seq: n, Entries: n + 1},
		History: []storage.Entry{{Seq: n + 1, Path: strings.Repeat("x", 200)}},
	}
}

// sqliteError is an error with a result code of SQLite.
type sqliteError int

func (e sqliteError) Error() string { return fmt.Sprint("code ", int(e)) }
func (e sqliteError) Code() int     { return int(e) }

const ioerrFsync = 1034

// TestLostAnswer loses the answer of a COMMIT that was done: the store says that
// it does not know, and the same checkpoint again does no harm.
//
// Guarantee (G1): A write whose COMMIT went unanswered can be repeated.
// Also: `TestServerCommitUnheard`, `TestServerWritesUnheard`.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	if err := s.SetLimit(t.Context(), storage.Limit{Runs: 2}); err != nil {
		t.Fatal(err)
	}
	made, _, err := backend.ClaimNew(storage.Run{ID: "b", Flow: "f"})
	if err != nil {
		t.Fatal(err)
	}
	for run, claim := range map[string]backend.Claim{"a": beginRun(t, s, "a"), "b": made} {
		s.writer.committed = func(err error) error {
			s.writer.committed = nil
			return errors.Join(err, errors.New("connection lost"))
		}
		if err := s.Commit(t.Context(), claim, nth(0)); !errors.Is(err, storage.ErrUnsure) {
			t.Fatalf("Commit whose answer is lost: %v", err)
		}
		for range 2 {
			if err := s.Commit(t.Context(), claim, nth(0)); err != nil {
				t.Fatalf("the same checkpoint again: %v", err)
			}
		}
		if err := s.Commit(t.Context(), claim, nth(1)); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Run(t.Context(), run); err != nil || r.Seq != 2 {
			t.Errorf("the run stands at %d, %v", r.Seq, err)
		}
	}
}

// TestFailedFsync makes a COMMIT fail at the disk. The store does not retry, writes nothing more, and can be read.
// Opened again, it continues.
//
// Guarantee (G1): After a failed sync, also one that dropped its data as on Linux, the store writes nothing until
// reopened.
// Also: `TestFsyncThatLoses`.
func TestFailedFsync(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	claim := beginRun(t, s, "a")
	if err := s.Commit(t.Context(), claim, nth(0)); err != nil {
		t.Fatal(err)
	}
	commits := 0
	s.writer.committed = func(error) error { commits++; return sqliteError(ioerrFsync) }
	err := s.Commit(t.Context(), claim, nth(1))
	if !errors.Is(err, storage.ErrUnsure) || !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), file) {
		t.Errorf("Commit at a failing disk: %v", err)
	}
	err = s.Commit(t.Context(), claim, nth(1))
	if !errors.Is(err, ErrBroken) || errors.Is(err, storage.ErrUnsure) {
		t.Errorf("Commit after it: %v", err)
	}
	if err := s.Send(t.Context(), storage.Message{Run: "a"}); !errors.Is(err, ErrBroken) {
		t.Errorf("Send after it: %v", err)
	}
	if commits != 1 {
		t.Errorf("%d commits were tried", commits)
	}
	if r, err := s.Run(t.Context(), "a"); err != nil || r.Seq < 1 {
		t.Errorf("the run stands at %d, %v", r.Seq, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s = openFile(t, file)
	_, snap, err := s.Begin(t.Context(), "a")
	if err != nil || snap.Run.Seq < 1 {
		t.Fatalf("after opening anew: %+v, %v", snap, err)
	}
}

// TestDiskFull prevents the database from growing. Commits fail as a whole, and continue once there is space.
//
// Guarantee (G1): A full disk refuses whole commits. With space, runs continue.
// Also: `TestDiskFullForReal` (needs the right to mount).
func TestDiskFull(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	claim := beginRun(t, s, "a")
	limit := func(pages string) {
		t.Helper()
		err := s.writer.run(t.Context(), &write{bare: true, do: func(ctx context.Context, w *session) error {
			var n int64
			return w.SQL.GetContext(ctx, &n, "PRAGMA max_page_count = "+pages)
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // which means: no more than there are
	n, full := int64(0), error(nil)
	for ; full == nil; n++ {
		full = s.Commit(t.Context(), claim, nth(n))
	}
	n--
	if !strings.Contains(full.Error(), "the disk is full") || !strings.Contains(full.Error(), file) ||
		errors.Is(full, storage.ErrUnsure) || errors.Is(full, ErrBroken) {
		t.Errorf("Commit at a full disk: %v", full)
	}
	if r, err := s.Run(t.Context(), "a"); err != nil || r.Seq != n || r.Entries != n {
		t.Errorf("the run stands at %d, want %d, %v", r.Seq, n, err)
	}
	limit("1000000")
	if err := s.Commit(t.Context(), claim, nth(n)); err != nil {
		t.Errorf("Commit once there is space: %v", err)
	}
}

// TestForeignLock has another program hold SQLite's lock for a while.
func TestForeignLock(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	claim := beginRun(t, s, "a")
	db, err := sqlx.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, db)
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, conn)
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Commit(context.Background(), claim, nth(0)) }()
	if r, err := s.Run(t.Context(), "a"); err != nil || r.Seq != 0 { // readers do not wait
		t.Errorf("the run stands at %d, %v", r.Seq, err)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestBatch puts commits into one batch. Some are refused, before or after they have written. The others succeed.
//
// Guarantee (G10): A refused commit in a shared transaction harms no other run.
func TestBatch(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	const n = 20
	claims := make([]backend.Claim, n)
	for i := range claims {
		claims[i] = beginRun(t, s, fmt.Sprint("run", i))
	}
	transactions := 0
	s.writer.committed = func(err error) error { transactions++; return err }
	release := occupy(t, s)
	errs := make([]error, n)
	var done sync.WaitGroup
	for i := range claims {
		done.Go(func() {
			cp := nth(0)
			switch i {
			case 3: // refused by its guard
				cp = nth(7)
			case 7: // refused after it has written
				cp.Children = []storage.Run{{ID: "run0"}}
			}
			errs[i] = s.Commit(context.Background(), claims[i], cp)
		})
	}
	waitQueued(s.writer, n)
	release()
	done.Wait()
	for i, err := range errs {
		want := map[int]error{3: storage.ErrFenced, 7: storage.ErrExists}[i]
		if !errors.Is(err, want) {
			t.Errorf("commit %d: %v, want %v", i, err, want)
		}
		r, err := s.Run(t.Context(), fmt.Sprint("run", i))
		if done := r.Seq == 1; err != nil || done != (want == nil) {
			t.Errorf("run %d stands at %d, %v", i, r.Seq, err)
		}
	}
	if transactions < 2 || transactions > 6 { // of the halves without run 7, the smallest of which is it alone
		t.Errorf("%d transactions: a spoilt batch is done by halves", transactions)
	}

	transactions = 0
	release = occupy(t, s)
	for i := range claims {
		if i != 3 && i != 7 {
			done.Go(func() { errs[i] = s.Commit(context.Background(), claims[i], nth(1)) })
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error)
	go func() { given <- s.Commit(ctx, claims[3], nth(0)) }()
	waitQueued(s.writer, n-1)
	cancel()
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Errorf("a commit cancelled in the queue: %v", err)
	}
	release()
	done.Wait()
	if transactions != 1 {
		t.Errorf("%d transactions for commits that were ready at the same time", transactions)
	}
	if r, err := s.Run(t.Context(), "run3"); err != nil || r.Seq != 0 {
		t.Errorf("a commit cancelled in the queue was done: %d, %v", r.Seq, err)
	}
}

// TestBatchPassesBare queues a read outside of any transaction between two commits. The commits share a transaction,
// and the read runs nevertheless.
func TestBatchPassesBare(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	claims := []backend.Claim{beginRun(t, s, "a"), beginRun(t, s, "b")}
	transactions := 0
	s.writer.committed = func(err error) error { transactions++; return err }
	release := occupy(t, s)
	var done sync.WaitGroup
	put := func(queued int, write func(context.Context) error) {
		done.Go(func() {
			if err := write(context.Background()); err != nil {
				t.Error(err)
			}
		})
		waitQueued(s.writer, queued)
	}
	put(1, func(ctx context.Context) error { return s.Commit(ctx, claims[0], nth(0)) })
	put(2, func(ctx context.Context) error { _, err := s.writer.othersVersion(ctx); return err })
	put(3, func(ctx context.Context) error { return s.Commit(ctx, claims[1], nth(0)) })
	release()
	done.Wait()
	if transactions != 1 {
		t.Errorf("%d transactions for two commits that were ready at the same time", transactions)
	}
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// occupy keeps the writer busy until the returned function is called.
func occupy(t *testing.T, s *store) (release func()) {
	t.Helper()
	in, out := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.writer.run(context.Background(), &write{bare: true, do: func(context.Context, *session) error {
			close(in)
			<-out
			return nil
		}})
	}()
	<-in
	return func() { close(out) }
}

// waitQueued waits until n writes are in the queue.
func waitQueued(w *writer, n int) {
	for {
		w.mu.Lock()
		queued := len(w.queue)
		w.mu.Unlock()
		if queued == n {
			return
		}
	}
}

// TestMigrations opens an empty file, and a database that lacks a later migration.
//
// Guarantee (G7): SQLite files of each schema since version 0.1 migrate, and their records read as written.
// Also: `TestFixtures`.
func TestMigrations(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"empty": false, "of the schema before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "runs.db")
			if before {
				s := openFile(t, file)
				if err := s.Commit(t.Context(), beginRun(t, s, "a"), nth(0)); err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			newest, err := schema.Newest(schema.Migrations)
			if err != nil {
				t.Fatal(err)
			}
			later := Later("CREATE TABLE later (n INTEGER); INSERT INTO later SELECT count(*) FROM runs;", "")
			s, err := openStore(t.Context(), file, WithMigrations(later))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Commit(t.Context(), beginRun(t, s, "b"), nth(0)); err != nil {
				t.Error(err)
			}
			var version, runs int64
			conn := s.writer.session.SQL
			if err := errors.Join(
				conn.GetContext(t.Context(), &version, "PRAGMA user_version"),
				conn.GetContext(t.Context(), &runs, "SELECT n FROM later"),
			); err != nil || version != int64(newest)+1 || runs == 1 != before {
				t.Errorf("now at %d, where there were %d runs, %v", version, runs, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
