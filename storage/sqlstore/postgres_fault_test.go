//go:build unix

package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// owned makes a run, and takes it.
func owned(t *testing.T, s backend.Store, id string) backend.Claim {
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

// commitSurely offers a checkpoint until the store says that it is there, as an
// engine does.
func commitSurely(ctx context.Context, s backend.Store, claim backend.Claim, n int64) error {
	for {
		err := s.Commit(ctx, claim, checkpoint(n))
		if err == nil || errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrInvalid) || ctx.Err() != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// TestServerKilledInCommit kills a process on either side of a COMMIT on a server. Another process continues its runs
// at once, because it is on the same machine.
//
// Guarantee (G6): On PostgreSQL, after a kill around a COMMIT or during a write, and repeated cuts of connections and
// backends, each commit is there once.
// Also: `TestServerKilledBusy`, `TestServerConnectionsCut`, `TestServerBackendsTerminated`.
func TestServerKilledInCommit(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]int64{
		"sqlstore.commit.before": 2, // the third is not there
		"sqlstore.commit.after":  3, // the third is there, though no reply arrived
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			dsn := migrated(t)
			p := start(t, "commit", dsn, place)
			run := p.Line()
			told := ""
			for line := p.Line(); line != ""; line = p.Line() {
				told = line
			}
			if !p.Killed() || told != "2" {
				t.Fatalf("the child was told of commit %q, state %v", told, p.ProcessState)
			}
			s := openServer(t, dsn)
			defer shut(t, s)
			// The server ends the transactions of the dead process once it has noticed that the client is gone. Until
			// then, the row is locked.
			goOn(t, s, run)
			if got := whole(t, s, run); got != want+1 {
				t.Errorf("the run stood at %d, want %d", got-1, want)
			}
		})
	}
}

// TestServerKilledBusy kills a process that commits without pause, at any place.
func TestServerKilledBusy(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := openServer(t, dsn)
	defer shut(t, s)
	for i := range 3 {
		p := start(t, "busy", dsn, "")
		run := p.Line()
		far := int64(20 * (i + 1))
		soon(t, "commits of the child", func() bool {
			r, err := s.Run(t.Context(), run)
			return err == nil && r.Seq > far
		})
		p.Kill()
		goOn(t, s, run)
	}
}

// TestServerBackendsTerminated ends the server's side of all connections again
// and again while runs are written: each commit is there once, and none is lost.
func TestServerBackendsTerminated(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := openServer(t, dsn)
	defer shut(t, s)
	admin := postgrestest.Connect(t, dsn)
	kills := 0
	disturbed(t, s, 10, func() {
		if _, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1`,
			postgrestest.Schema(t, dsn)); err != nil {
			t.Error(err)
		}
		kills++
	})
	if kills < 10 {
		t.Errorf("%d kills", kills)
	}
}

// disturbed writes several runs, and disturbs the database the given number of times, each time after all runs have
// progressed. It checks that everything is there.
func disturbed(t *testing.T, s *sqlstore.Store, times int, disturb func()) {
	t.Helper()
	const runs = 12
	var claims [runs]backend.Claim
	for i := range claims {
		claims[i] = owned(t, s, fmt.Sprint("run-", i))
	}
	var far [runs]atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ends := make(chan error, runs)
	for i := range claims {
		go func() {
			for ctx.Err() == nil {
				if err := commitSurely(context.WithoutCancel(ctx), s, claims[i], far[i].Load()); err != nil {
					ends <- fmt.Errorf("run %d, checkpoint %d: %w", i, far[i].Load(), err)
					return
				}
				far[i].Add(1)
			}
			ends <- nil
		}()
	}
	for range times {
		var from [runs]int64
		for i := range far {
			from[i] = far[i].Load()
		}
		soon(t, "all runs get further", func() bool {
			for i := range far {
				if far[i].Load() < from[i]+5 {
					return len(ends) > 0
				}
			}
			return true
		})
		disturb()
	}
	stop()
	for range runs {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	for i := range claims {
		var r storage.Run
		soon(t, "the store can be read again", func() bool {
			var err error
			r, err = s.Run(t.Context(), claims[i].Run)
			return err == nil
		})
		if r.Seq != far[i].Load() {
			t.Errorf("run %d: %d commits were acknowledged, %d are there", i, far[i].Load(), r.Seq)
		}
		whole(t, s, claims[i].Run)
	}
}

// TestServerConnectionsCut closes all connections between the store and its
// server, again and again.
func TestServerConnectionsCut(t *testing.T) {
	t.Parallel()
	p, dsn := postgrestest.NewProxy(t, migrated(t))
	s := openServer(t, dsn)
	defer shut(t, s)
	disturbed(t, s, 10, p.Cut)
}

// TestServerCommitUnheard drops the server's answer to a COMMIT, or to the writes before it. In both cases the store
// reads the run's row to find out: each checkpoint is there once, and its owner continues.
func TestServerCommitUnheard(t *testing.T) {
	t.Parallel()
	for tag, undone := range map[string]bool{
		"COMMIT":   false, // it is done, and no reply arrived
		"SELECT 1": true,  // the guard's answer: it was undone as the connection was lost, or done
	} {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			direct := migrated(t)
			p, dsn := postgrestest.NewProxy(t, direct)
			// The owner's own row is written on another connection, and later than all this.
			s := openServer(t, dsn, sqlstore.Lease(time.Hour))
			defer shut(t, s)
			claim := owned(t, s, "a")
			for n := range int64(20) {
				p.Lose(tag)
				err := s.Commit(t.Context(), claim, checkpoint(n))
				if !errors.Is(err, storage.ErrUnsure) && (!undone || err != nil) {
					t.Fatalf("checkpoint %d: %v", n, err)
				}
				if err := commitSurely(t.Context(), s, claim, n); err != nil {
					t.Fatalf("checkpoint %d once more: %v", n, err)
				}
				if got := p.Losses(); got != int(n+1) {
					t.Fatalf("%d answers were lost after %d checkpoints", got, n+1)
				}
			}
			if got := whole(t, s, "a"); got != 20 {
				t.Errorf("the run stands at %d", got)
			}
		})
	}
}

// TestServerWritesUnheard drops the answer to the COMMIT of every other kind of write, and repeats the call, as its
// caller does. The write is there once.
func TestServerWritesUnheard(t *testing.T) {
	t.Parallel()
	p, dsn := postgrestest.NewProxy(t, migrated(t))
	s := openServer(t, dsn, sqlstore.Lease(time.Hour))
	defer shut(t, s)
	ctx := t.Context()
	twice := func(what string, done error, write func() error) {
		t.Helper()
		was := p.Losses()
		p.Lose("COMMIT")
		if err := write(); !errors.Is(err, storage.ErrUnsure) {
			t.Fatalf("%s: %v", what, err)
		}
		if p.Losses() != was+1 {
			t.Fatalf("%s: no answer was lost", what)
		}
		if err := write(); !errors.Is(err, done) {
			t.Fatalf("%s, once more: %v, want %v", what, err, done)
		}
	}
	twice("Create", storage.ErrExists, func() error { return s.Create(ctx, storage.Run{ID: "a"}) })
	twice("PostJob", storage.ErrExists, func() error { return s.PostJob(ctx, storage.Job{ID: "j", Run: "b", Flow: "f"}) })
	jobs, err := s.ClaimJobs(ctx, backend.JobClaim{Lease: time.Hour, Limit: 1})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %+v: %v", jobs, err)
	}
}

// TestServerUnheard blocks the connection between a store and its server for longer than its lease. Another process
// takes its run over, and the server refuses the first one's writes once they arrive again.
//
// Guarantee (G6): An owner cut off from PostgreSQL for longer than its lease is refused when it reconnects. It cancels
// its calls by its own clock; how soon is not proven.
// Also: `engine: TestCutOff`.
func TestServerUnheard(t *testing.T) {
	t.Parallel()
	direct := migrated(t)
	p, dsn := postgrestest.NewProxy(t, direct)
	lease := sqlstore.Lease(3 * time.Second) // a busy machine renews it, too
	first := openServer(t, dsn+"&statement_timeout=2000", lease)
	claim := owned(t, first, "a")
	if err := first.Commit(t.Context(), claim, checkpoint(0)); err != nil {
		t.Fatal(err)
	}
	second := openServer(t, direct, lease)
	defer shut(t, second)
	p.Stick(true)
	sent := make(chan error)
	go func() { sent <- commitSurely(context.Background(), first, claim, 1) }()
	var taken backend.Claim
	var held *storage.OwnedError
	soon(t, "the run is taken over", func() bool {
		var err error
		taken, _, err = second.Begin(t.Context(), "a")
		if err != nil && !errors.As(err, &held) {
			t.Fatal(err)
		}
		return err == nil
	})
	if err := second.Commit(t.Context(), taken, checkpoint(1)); err != nil {
		t.Fatal(err)
	}
	p.Stick(false)
	if err := <-sent; !errors.Is(err, storage.ErrFenced) {
		t.Errorf("the former owner's commit: %v, want %v", err, storage.ErrFenced)
	}
	if got := whole(t, second, "a"); got != 2 {
		t.Errorf("the run stands at %d", got)
	}
	if err := second.Commit(t.Context(), taken, checkpoint(2)); err != nil {
		t.Error(err)
	}
	shut(t, first)
}

// TestServerHot shows that the row of a run that is written by each step is
// rewritten in its page, with no index touched.
func TestServerHot(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t) // where no other transaction's snapshot keeps old rows from being removed
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	s := openServer(t, dsn)
	claim := owned(t, s, "a")
	const commits = 500
	for n := range int64(commits) {
		if err := s.Commit(t.Context(), claim, checkpoint(n)); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, s) // and its sessions send the server their statistics
	admin := postgrestest.Connect(t, dsn)
	var all, hot int64
	soon(t, "the server's figures", func() bool {
		err := admin.QueryRow(t.Context(), `SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'runs'`).Scan(&all, &hot)
		if err != nil {
			t.Fatal(err)
		}
		return all >= commits
	})
	if hot*2 < all { // with an index on a changed column there would be none; now and then a page is full
		t.Errorf("of %d updates %d were HOT", all, hot)
	}
}

// TestServerPassword looks that no error shows the password.
func TestServerPassword(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://me:sekret@127.0.0.1:1/db", "postgres://me:sekret@127.0.0.1:x/db", "postgres://me:sekret@127.0.0.1:1/db?sslmode=what",
		"postgres://me:sekret@127.0.0.1:1/db?connect_timeout=x", "postgres://me:sekret@%zz/db", "postgresql://me:sekret@nowhere.invalid/db",
	} {
		_, err := sqlstore.Open(t.Context(), dsn)
		if err == nil || strings.Contains(err.Error(), "sekret") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// soon waits until a condition holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 3*time.Minute {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
