package sqlstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestBadRows: rows into which another program has written something are named in each list, and hide no others.
//
// Guarantee (G8): A damaged row is named in lists, and hides no other run, job or schedule.
func TestBadRows(t *testing.T) {
	t.Parallel()
	const onBoth, onSQLite = false, true
	for damage, only := range map[string]bool{
		`UPDATE runs SET failure = 'no' WHERE n = (SELECT n FROM origins WHERE id = 'bad')`:   onBoth,
		`UPDATE runs SET state = 200 WHERE n = (SELECT n FROM origins WHERE id = 'bad')`:      onBoth,
		`UPDATE runs SET state = 3000 WHERE n = (SELECT n FROM origins WHERE id = 'bad')`:     onBoth,
		`UPDATE runs SET output_ref = 77 WHERE n = (SELECT n FROM origins WHERE id = 'bad')`:  onBoth,
		`UPDATE jobs SET labels = '{', failure = 'no' WHERE id = 'bad'`:                       onBoth,
		`UPDATE jobs SET state = 200 WHERE id = 'bad'`:                                        onBoth,
		`UPDATE jobs SET state = -1 WHERE id = 'bad'`:                                         onBoth,
		`UPDATE schedules SET labels = '[1]' WHERE id = 'bad'`:                                onBoth,
		`UPDATE schedules SET catch_up = 9223372036854775807, labels = 'x' WHERE id = 'bad'`:  onBoth,
		`INSERT INTO owners (id, host, pid, started, seen) VALUES ('no/folder', '', 1, 1, 1)`: onSQLite,
		`INSERT INTO owners (id, host, pid, started, seen) VALUES ('folder', '', 1, 1, 1)`:    onSQLite,
	} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "runs.db")
			s := open(t, file)
			defer func() { must(t, os.Remove(file+"-owner-folder")) }()
			withBadRow(t, s, func() {
				must(t, os.Mkdir(file+"-owner-folder", 0o700))
				_, err := raw(t, file).ExecContext(t.Context(), damage)
				must(t, err)
			})
			if only == onSQLite {
				return
			}
			dsn := postgrestest.DSN(t)
			_, err := sqlstore.Migrate(t.Context(), dsn)
			must(t, err)
			withBadRow(t, openServer(t, dsn), func() { postgrestest.Exec(t, dsn, damage) })
		})
	}
}

func withBadRow(t *testing.T, s *sqlstore.Store, damage func()) {
	t.Helper()
	defer shut(t, s)
	past := time.Now().Add(-time.Hour)
	for _, id := range []string{"bad", "good"} {
		must(t, s.Create(t.Context(), storage.Run{ID: id, Flow: "f", Structure: "x", Due: past}))
		must(t, s.PostJob(t.Context(), storage.Job{ID: id, Flow: "f"}))
		must(t, s.PutSchedule(t.Context(), backend.Schedule{ID: id, Spec: "@daily", Flow: "f", Next: past}))
	}
	damage()
	ctx := t.Context()
	named := func(what string, ids []string, errs ...error) {
		t.Helper()
		if !slices.Contains(ids, "good") || !slices.Contains(ids, "bad") {
			t.Errorf("%s: %v, %v", what, ids, errs)
		}
		for _, err := range errs {
			if err != nil && (!errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), `"bad"`)) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	var ids []string
	var errs []error
	for run, err := range storage.EachRun(ctx, s, storage.RunQuery{}) {
		must(t, err)
		ids, errs = append(ids, run.ID), append(errs, run.Err)
	}
	named("runs", ids, errs...)
	ids, errs = nil, nil
	for job, err := range backend.EachJob(ctx, s, storage.JobQuery{}) {
		must(t, err)
		ids, errs = append(ids, job.ID), append(errs, job.Err)
	}
	named("jobs", ids, errs...)
	ids, errs = nil, nil
	for one, err := range backend.EachSchedule(ctx, s, backend.ScheduleQuery{}) {
		must(t, err)
		ids, errs = append(ids, one.ID), append(errs, one.Err)
	}
	named("schedules", ids, errs...)
	ids, errs = nil, nil
	due, _, err := s.Due(ctx, backend.DueQuery{By: s.Now()})
	must(t, err)
	for i := range due {
		ids, errs = append(ids, due[i].Run), append(errs, due[i].Err)
	}
	named("due runs", ids, errs...)
	ids, errs = nil, nil
	ticks, _, _, err := s.DueSchedules(ctx, backend.Schedule{}, 0)
	must(t, err)
	for i := range ticks {
		ids, errs = append(ids, ticks[i].ID), append(errs, ticks[i].Err)
	}
	named("due schedules", ids, errs...)
	claimed, err := s.ClaimJobs(ctx, backend.JobClaim{Lease: time.Hour, Limit: 5})
	must(t, err)
	if !slices.ContainsFunc(claimed, func(j storage.Job) bool { return j.ID == "good" }) {
		t.Errorf("claimed %v", claimed)
	}
	_, err = s.Status(ctx)
	must(t, err)
	_, err = s.Owners(ctx)
	must(t, err)
	_, err = s.Largest(ctx, 5)
	must(t, err)
}
