package jobs_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestBadRows: records that are damaged, or that this version does not understand, do not keep the others from being
// handled, however many precede them.
//
// Guarantee (Jobs): A damaged or invalid schedule or job does not delay another one.
func TestBadRows(t *testing.T) {
	t.Parallel()
	const many = 250 // more than a page
	labels := map[string]string{"gpu": "a"}
	schedule := func(t *testing.T, b *jobs.Board, id, spec string) {
		t.Helper()
		must(t, backend.Of(b.Store()).PutSchedule(t.Context(), backend.Schedule{
			ID: id, Spec: spec, Flow: "f", Next: time.Now().Add(-time.Hour), Labels: labels,
		}))
	}
	ticks := func(t *testing.T, b *jobs.Board) {
		t.Helper()
		schedule(t, b, "the good one", "@every 1h")
		posted, _, err := b.Tick(t.Context())
		if len(posted) != 1 || err == nil || len(err.Error()) > 10_000 {
			t.Errorf("%d were posted; the error is %.500v", len(posted), err)
		}
		_, err = b.Now(t.Context())
		must(t, err)
	}
	for _, c := range []struct {
		name, damage string
		add          func(t *testing.T, b *jobs.Board, id string)
		check        func(t *testing.T, b *jobs.Board)
	}{
		{"invalid schedules", "", func(t *testing.T, b *jobs.Board, id string) {
			t.Helper()
			schedule(t, b, id, "each blue moon")
		}, ticks},
		{"damaged schedules", `UPDATE schedules SET labels = $1`, func(t *testing.T, b *jobs.Board, id string) {
			t.Helper()
			schedule(t, b, id, "@every 1s")
		}, ticks},
		{"damaged jobs", `UPDATE jobs SET run_labels = $1`, func(t *testing.T, b *jobs.Board, id string) {
			t.Helper()
			post(t, b, jobs.Job{ID: id, Flow: "f", RunLabels: labels, Priority: 1})
		}, func(t *testing.T, b *jobs.Board) {
			t.Helper()
			post(t, b, jobs.Job{ID: "good", Flow: "f"})
			if got := claim(t, b, jobs.ClaimQuery{Limit: 8}); len(got) != 1 || got[0].Job.ID != "good" {
				t.Errorf("claimed %v", ids(got))
			}
			counts, err := backend.Of(b.Store()).JobCounts(t.Context())
			must(t, err)
			if len(counts) != 2 || counts[1].State != states.JobParked || counts[1].Jobs != many {
				t.Errorf("there are %+v", counts)
			}
		}},
		{"damaged jobs with needs", `UPDATE jobs SET labels = $1`, func(t *testing.T, b *jobs.Board, id string) {
			t.Helper()
			post(t, b, jobs.Job{ID: id, Flow: "f", Labels: labels, Priority: 1})
		}, func(t *testing.T, b *jobs.Board) {
			t.Helper()
			post(t, b, jobs.Job{ID: "good", Flow: "f", Labels: labels})
			if got := claim(t, b, jobs.ClaimQuery{Limit: 8, Offers: labels}); len(got) != 1 || got[0].Job.ID != "good" {
				t.Errorf("claimed %v", ids(got))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testOn := func(name, dsn string, damage func(text []byte)) {
				t.Run(name, func(t *testing.T) {
					one, b := inDatabase(t, dsn, jobs.Policy{})
					for i := range many {
						c.add(t, one, fmt.Sprintf("bad %03d", i))
					}
					if c.damage != "" {
						damage([]byte("{damaged"))
					}
					c.check(t, b)
				})
			}
			file := filepath.Join(t.TempDir(), "runs.db")
			testOn("SQLite", file, func(text []byte) {
				db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(60000)")
				must(t, err)
				_, err = db.ExecContext(t.Context(), c.damage, text)
				must(t, err)
				must(t, db.Close())
			})
			dsn := postgrestest.DSN(t)
			_, err := sqlstore.Migrate(t.Context(), dsn)
			must(t, err)
			testOn("PostgreSQL", dsn, func(text []byte) { postgrestest.Exec(t, dsn, c.damage, text) })
		})
	}
}
