package jobs_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestServersClock: the pause after a failed claim, and a time that is counted from Now, pass by the server's clock,
// also if it differs from that of this process by more than the pause.
//
// Guarantee (G2): A job that waits starts by the clock of the database, whichever process sets its time.
func TestServersClock(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			dsn := postgrestest.Database(t)
			postgrestest.SetClock(t, dsn, ahead)
			_, err := sqlstore.Migrate(t.Context(), dsn)
			must(t, err)
			s, err := sqlstore.Open(t.Context(), dsn)
			must(t, err)
			defer func() { must(t, s.Close()) }()
			b := jobs.New(s, jobs.Policy{Backoff: atom.Constant(10 * time.Minute)})
			post(t, b, jobs.Job{ID: "busy", Flow: "trip"})
			must(t, b.Retry(t.Context(), claim(t, b, jobs.ClaimQuery{})[0], &atom.Failure{Code: "Busy"}))
			now, err := b.Now(t.Context())
			must(t, err)
			post(t, b, jobs.Job{ID: "later", Flow: "trip", NotBefore: now.Add(10 * time.Minute)})
			if got := claim(t, b, jobs.ClaimQuery{Limit: 2}); len(got) > 0 {
				t.Errorf("before its time there is %s", ids(got))
			}
			for _, id := range []string{"busy", "later"} {
				job := stored(t, b, id)
				if wait := job.NotUntil.Sub(now); job.State != states.JobScheduled || wait < 9*time.Minute || wait > 11*time.Minute {
					t.Errorf("%s is %v, for %v", id, job.State, wait)
				}
			}
			postgrestest.SetClock(t, dsn, ahead+11*time.Minute)
			if got := claim(t, b, jobs.ClaimQuery{Limit: 2}); len(got) != 2 {
				t.Errorf("at its time there is %s", ids(got))
			}
		})
	}
}
