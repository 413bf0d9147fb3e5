//go:build unix

package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestServerJobsUnheard drops answers to claims and ends of jobs. The store finds out what happened. Each job is
// claimed, and ended, once, and the caller learns it.
func TestServerJobsUnheard(t *testing.T) {
	t.Parallel()
	p, dsn := postgrestest.NewProxy(t, migrated(t))
	s := openServer(t, dsn, sqlstore.Lease(time.Hour))
	defer shut(t, s)
	ctx := t.Context()
	losing := func(tag, what string, do func() error) {
		t.Helper()
		was := p.Losses()
		p.Lose(tag)
		if err := do(); err != nil {
			t.Fatalf("%s without the answer %q: %v", what, tag, err)
		}
		if p.Losses() != was+1 {
			t.Fatalf("%s: the answer %q was not lost", what, tag)
		}
	}
	for i, c := range []struct {
		claim, lost string // of the server's answers to the claim, and to the end
		end         states.Job
	}{
		{"COMMIT", "COMMIT", states.JobComplete},
		{"UPDATE 2", "SELECT 1", states.JobComplete}, // the guard's: it was undone as the connection was lost, or done
		{"UPDATE 2", "COMMIT", states.JobScheduled},
		{"BEGIN", "SELECT 1", states.JobParked},
	} {
		id := fmt.Sprint("j", i)
		for _, id := range []string{id, id + "-too"} {
			if err := s.PostJob(ctx, storage.Job{ID: id, Flow: "f"}); err != nil {
				t.Fatal(err)
			}
		}
		var jobs []storage.Job
		losing(c.claim, "ClaimJobs", func() (err error) {
			jobs, err = s.ClaimJobs(ctx, backend.JobClaim{Lease: time.Hour, Limit: 2})
			return err
		})
		if len(jobs) != 2 || jobs[0].ID != id || jobs[0].State != states.JobClaimed || jobs[0].Attempts != 1 {
			t.Fatalf("claimed %+v", jobs)
		}
		for _, j := range jobs {
			end := backend.JobEnd{
				Job: j.ID, Epoch: j.Epoch, ClaimID: j.ClaimID, State: c.end, NotUntil: time.Now().Add(time.Hour), Failure: &atom.Failure{Code: "C"},
			}
			losing(c.lost, "EndJob", func() error { return s.EndJob(ctx, end) })
			if err := s.EndJob(ctx, end); !errors.Is(err, storage.ErrFenced) {
				t.Errorf("EndJob once more: %v", err)
			}
			if got, err := s.Job(ctx, j.ID); err != nil || got.State != c.end || got.Epoch != j.Epoch {
				t.Errorf("the job is %+v: %v", got, err)
			}
		}
	}
}

// TestServerJobsCut ends jobs, and claims them, on connections that were cut since they
// were used.
func TestServerJobsCut(t *testing.T) {
	t.Parallel()
	p, dsn := postgrestest.NewProxy(t, migrated(t))
	s := openServer(t, dsn, sqlstore.Lease(time.Hour))
	defer shut(t, s)
	for i := range 5 {
		id := fmt.Sprint(i)
		if err := s.PostJob(t.Context(), storage.Job{ID: id, Flow: "f"}); err != nil {
			t.Fatal(err)
		}
		p.Cut()
		jobs, err := s.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour, Limit: 1})
		if err != nil || len(jobs) != 1 {
			t.Fatalf("claimed %+v: %v", jobs, err)
		}
		p.Cut()
		if err := s.EndJob(t.Context(), backend.JobEnd{Job: id, Epoch: 1, ClaimID: jobs[0].ClaimID, State: states.JobComplete}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServerJobsDisturbed lets workers claim and end jobs, together, while answers to their COMMITs are dropped and
// connections are cut. All jobs end, and none for two workers.
func TestServerJobsDisturbed(t *testing.T) {
	t.Parallel()
	p, dsn := postgrestest.NewProxy(t, migrated(t))
	s := openServer(t, dsn, sqlstore.Lease(time.Hour))
	defer shut(t, s)
	const all, workers = 120, 8
	for i := range all {
		if err := s.PostJob(t.Context(), storage.Job{ID: fmt.Sprint(i), Flow: "f"}); err != nil {
			t.Fatal(err)
		}
	}
	var told [all]atomic.Int64
	var ends atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for ctx.Err() == nil {
				jobs, _ := s.ClaimJobs(context.WithoutCancel(ctx), backend.JobClaim{Lease: 3 * time.Second, Limit: 2}) // perhaps it is cut just then
				for _, j := range jobs {
					end := backend.JobEnd{Job: j.ID, Epoch: j.Epoch, ClaimID: j.ClaimID, State: states.JobComplete}
					if i, err := strconv.Atoi(j.ID); err == nil && s.EndJob(context.WithoutCancel(ctx), end) == nil {
						told[i].Add(1)
						ends.Add(1)
					}
				}
			}
		})
	}
	left := func() int {
		open := []states.Job{states.JobUnclaimed, states.JobClaimed}
		list, err := s.JobList(t.Context(), storage.JobQuery{States: open})
		if err != nil {
			return all // it was cut
		}
		return len(list)
	}
	for n := 0; left() > 0; n++ {
		if n%3 == 0 {
			p.Cut()
		} else {
			p.Lose("COMMIT")
		}
		was := ends.Load()
		soon(t, "the workers get further", func() bool { return ends.Load() > was+3 || left() == 0 })
	}
	stop()
	working.Wait()
	p.Lose("NOTHING") // the last answer may still come, and the store must hear its own end
	for i := range told {
		if n := told[i].Load(); n > 1 {
			t.Errorf("job %d was ended %d times", i, n)
		}
	}
	if ends.Load() == 0 {
		t.Error("nobody was told of any end")
	}
}

// TestServerClaimsInOrder shows that a claim reads no more of the board than it takes, though
// the server does not know how many jobs are on it.
func TestServerClaimsInOrder(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Database(t)
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	admin := postgrestest.Connect(t, dsn)
	schema := postgrestest.Schema(t, dsn)
	if _, err := admin.Exec(t.Context(), `ALTER TABLE `+schema+`.jobs SET (autovacuum_enabled = off)`); err != nil {
		t.Fatal(err)
	}
	s := openServer(t, dsn)
	const waiting, claims = 3000, 30
	if _, err := admin.Exec(t.Context(), `INSERT INTO `+schema+`.jobs (id, run, flow, version, priority, state, created)
SELECT 'j' || i, '', 'f', 0, 0, 0, 0 FROM generate_series(1, $1::int) AS i`, waiting); err != nil {
		t.Fatal(err)
	}
	for range claims {
		jobs, err := s.ClaimJobs(t.Context(), backend.JobClaim{Flows: []string{"f", "g"}, Lease: time.Hour, Limit: 1})
		if err != nil || len(jobs) != 1 {
			t.Fatalf("claimed %+v: %v", jobs, err)
		}
	}
	shut(t, s) // and its sessions send the server their statistics
	var scans, read int64
	soon(t, "the server's figures", func() bool {
		err := admin.QueryRow(t.Context(), `SELECT idx_scan, idx_tup_read + (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'jobs')
FROM pg_stat_user_indexes WHERE indexrelname = 'jobs_unclaimed'`).Scan(&scans, &read)
		if err != nil {
			t.Fatal(err)
		}
		return scans >= claims
	})
	if read > waiting*claims/10 {
		t.Errorf("%d claims of one job each read %d rows of a board of %d", claims, read, waiting)
	}
}
