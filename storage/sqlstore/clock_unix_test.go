//go:build unix

package sqlstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// stepped returns a database on a server whose clock can be set.
func stepped(t *testing.T) string {
	t.Helper()
	dsn := postgrestest.Database(t)
	postgrestest.SetClock(t, dsn, 0)
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// elsewhere starts a process that has a run, and is on another machine for all that
// the others can tell.
func elsewhere(t *testing.T, dsn string) (p *childtest.Process, run string) {
	t.Helper()
	p = start(t, "told", dsn, "")
	if run = p.Line(); run == "" {
		t.Fatal("the child has ended")
	}
	postgrestest.Exec(t, dsn, `UPDATE owners SET machine = 'another' WHERE pid = $1`, p.Process.Pid)
	return p, run
}

// TestServerClockBack sets the server's clock back an hour, and kills the owner of a run:
// other processes take it over about a lease later by their own clock. That holds for the
// processes that watched and for those that start later.
func TestServerClockBack(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"who watched": false, "who comes later": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := stepped(t)
			var log logged
			watcher := openServer(t, dsn, sqlstore.Lease(3*time.Second), sqlstore.Log(log.logger()))
			defer shut(t, watcher)
			p, run := elsewhere(t, dsn)
			p.Halt("") // so that it does not prolong its lease after the step
			p.Kill()
			postgrestest.SetClock(t, dsn, -time.Hour)
			if late {
				s := openServer(t, dsn, sqlstore.Lease(3*time.Second))
				defer shut(t, s)
				goOn(t, s, run) // it waits by itself
				return
			}
			soon(t, "the dead owner's run is due", func() bool {
				due, _, err := watcher.Due(t.Context(), backend.DueQuery{By: time.Now().Add(time.Hour)})
				if err != nil {
					t.Fatal(err)
				}
				return len(due) == 1 && due[0].Run == run
			})
			soon(t, "a word about the clock", func() bool { return strings.Contains(log.String(), "clock.set") })
			if !strings.Contains(log.String(), "by=-1h0m0") && !strings.Contains(log.String(), "by=-59m59") {
				t.Errorf("it says %s", log.String())
			}
		})
	}
}

// TestServerClockForward sets the server's clock forward an hour: a process that lives
// keeps its run.
func TestServerClockForward(t *testing.T) {
	t.Parallel()
	dsn := stepped(t)
	var log logged
	watcher := openServer(t, dsn, sqlstore.Lease(3*time.Second), sqlstore.Log(log.logger()))
	defer shut(t, watcher)
	p, run := elsewhere(t, dsn)
	look := func() {
		t.Helper()
		due, _, err := watcher.Due(t.Context(), backend.DueQuery{By: time.Now().Add(2 * time.Hour)})
		if err != nil || len(due) > 0 {
			t.Fatalf("%d runs are due: %v", len(due), err)
		}
		var owned *storage.OwnedError
		if _, _, err := watcher.Begin(t.Context(), run); !errors.As(err, &owned) {
			t.Fatalf("Begin of a run that another has: %v", err)
		}
	}
	soon(t, "the lease renewer knows the server's clock", func() bool { return watcher.ServerNow().After(time.Unix(0, 0)) })
	postgrestest.SetClock(t, dsn, time.Hour)
	for range 5 {
		look()
	}
	p.Tell("go on")
	if said := p.Line(); said != "committed" {
		t.Errorf("the owner's commit was %s", said)
	}
	soon(t, "a word about the clock", func() bool { return strings.Contains(log.String(), "clock.set") })
	look()
	p.Kill()
	postgrestest.Exec(t, dsn, `UPDATE owners SET machine = 'another'`)
	soon(t, "once it has died, its run is free", func() bool {
		_, _, err := watcher.Begin(t.Context(), run)
		return err == nil
	})
}

// TestJobsUnderClockSteps posts jobs for later, and sets the server's clock: each is
// claimed once, when its time has come by that clock.
//
// Attack (PostgreSQL: roles, settings and clock): PostgreSQL's clock is set back, forward, or back and forth while jobs
// wait for their time.
// Result: Each job is claimed once, when that clock reaches its time.
func TestJobsUnderClockSteps(t *testing.T) {
	t.Parallel()
	dsn := stepped(t)
	s := openServer(t, dsn)
	defer shut(t, s)
	must(t, s.PostJob(t.Context(), storage.Job{ID: "j", Flow: "f", NotUntil: time.Now().Add(time.Hour)}))
	claim := func() int {
		t.Helper()
		jobs, err := s.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour})
		must(t, err)
		return len(jobs)
	}
	postgrestest.SetClock(t, dsn, -2*time.Hour)
	if n := claim(); n != 0 {
		t.Errorf("%d claimed before the time", n)
	}
	postgrestest.SetClock(t, dsn, 2*time.Hour)
	soon(t, "the job", func() bool { return claim() == 1 })
	postgrestest.SetClock(t, dsn, 0)
	if n := claim(); n != 0 {
		t.Errorf("claimed %d times more after the clock was put right", n)
	}
	job, err := s.Job(t.Context(), "j")
	must(t, err)
	if job.Owner != s.Owner().ID {
		t.Errorf("it is %+v", job)
	}
}
