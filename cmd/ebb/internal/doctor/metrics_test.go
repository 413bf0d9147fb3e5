package doctor

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/gauge"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/server/metrics"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestMetricsAgree: the doctor and the metrics report the same numbers, and in this database none of them is 0.
func TestMetricsAgree(t *testing.T) {
	t.Parallel()
	file := &patient{dsn: "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")}
	server := &patient{dsn: migrated(t, postgrestest.DSN(t))}
	for _, c := range []struct {
		name    string
		p       *patient
		execute func(statement string)
	}{
		{"file", file, func(statement string) { file.execute(t, statement) }},
		{"server", server, func(statement string) { postgrestest.Exec(t, server.dsn, statement) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.p.open(t)
			c.p.troubled(t, s)
			c.execute(fmt.Sprintf(`UPDATE runs SET lost = 2, trial = CASE WHEN due IS NULL THEN 1 ELSE 0 END, died = %d
WHERE state = %d`, time.Now().UnixMicro(), states.FlowRunning))
			findings, err := c.p.diagnosed(t)
			if err != nil {
				t.Fatal(err)
			}
			says := map[string]float64{}
			for _, f := range findings {
				maps.Copy(says, f.Metrics)
			}
			counted := scraped(t, s)
			for _, g := range gauge.All() {
				zero, other := true, ""
				for series, n := range counted {
					if name, _, _ := strings.Cut(series, "{"); name != g.Name {
						continue
					}
					zero = zero && n == 0
					said, is := says[series]
					if !is || said != n && (!strings.HasSuffix(g.Name, "_seconds") || n-said > 60) {
						other = fmt.Sprintf("%s is %v, and %v to the doctor", series, n, said)
					}
				}
				if zero || other != "" {
					t.Errorf("%s: all 0: %t; %s", g.Name, zero, other)
				}
			}
			for _, want := range []struct{ check, says string }{
				{"stored runs", "5 RUNNING, 1 FAILURE; 3 driven now"},
				{"runs", "2 runs wait for a process: "},
				{"need a person", "1 run: "},
				{"parked messages", "1 message to other systems"},
				{"schedules", "2 schedules late, such as nightly: "},
				{"limits", "at most 3 at once of trip: 3 now; at most 1 at once of a0: 0 now"},
				{"limits", "; 2 more in ebb limit; 2 runs wait under a limit"},
				{"crash loops", "5 runs"},
				{"board", "2 UNCLAIMED (the oldest for 1h0m"},
				{"jobs", "1 job waits to be claimed: "},
			} {
				if got := findings[want.check].Says; !strings.Contains(got, want.says) {
					t.Errorf("of %s the doctor says %q, want %q", want.check, got, want.says)
				}
			}
		})
	}
}

// troubled creates a database in which every gauge has a value.
func (p *patient) troubled(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 { // of all limits the doctor names some
		check(s.SetLimit(ctx, storage.Limit{Flow: fmt.Sprint("a", i), Runs: 1}))
	}
	check(s.SetLimit(ctx, storage.Limit{Flow: "trip", Runs: 3}))
	commit := func(id, flow string, head backend.Head, out ...storage.Outgoing) {
		t.Helper()
		claim, _, err := backend.ClaimNew(storage.Run{ID: id, Flow: flow})
		check(err)
		head.Started = ago(time.Hour)
		check(s.Commit(ctx, claim, &backend.Checkpoint{Head: head, Outbox: out}))
	}
	due := func(flow string, n int) {
		for i := range n {
			commit(fmt.Sprint(flow, "-due-", i), flow, backend.Head{
				State: states.FlowRunning, Release: true, Due: ago(time.Hour),
			})
		}
	}
	due("other", 2)
	for i := range 3 {
		commit(fmt.Sprint("trip-", i), "trip", backend.Head{State: states.FlowRunning},
			storage.Outgoing{ID: "m", Target: "t", Body: atom.MustEncode(1), Parked: i == 0, Error: "no"})
	}
	for i := range 2 {
		check(s.Create(ctx, storage.Run{ID: fmt.Sprint("later-", i), Flow: "trip", Created: ago(time.Hour), Due: ago(time.Hour)}))
	}
	commit("failed", "f", backend.Head{
		State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndoFailed, Ended: ago(time.Minute),
		Failure: &atom.Failure{Code: "C"}, Release: true,
	})
	check(s.PutSchedule(ctx, backend.Schedule{ID: "nightly", Spec: "@daily", Flow: "f", Next: ago(2 * time.Hour)}))
	check(s.PutSchedule(ctx, backend.Schedule{ID: "hourly", Spec: "@hourly", Flow: "f", Next: ago(time.Hour)}))
	for _, id := range []string{"parked", "claimed"} {
		check(s.PostJob(ctx, storage.Job{ID: id, Flow: "trip"}))
	}
	claimed, err := s.ClaimJobs(ctx, backend.JobClaim{Lease: time.Hour, Limit: 2})
	check(err)
	for _, job := range claimed {
		if job.ID == "parked" {
			check(s.EndJob(ctx, backend.JobEnd{
				Job: job.ID, Epoch: job.Epoch, ClaimID: job.ClaimID, State: states.JobParked, Failure: &atom.Failure{Code: "C"},
			}))
		}
	}
	check(s.PostJob(ctx, storage.Job{ID: "old", Flow: "trip", Created: ago(time.Hour)}))
	check(s.PostJob(ctx, storage.Job{ID: "new", Flow: "trip"}))
	check(s.PostJob(ctx, storage.Job{ID: "later", Flow: "trip", NotUntil: time.Now().Add(time.Hour)}))
}

// scraped returns the metrics of a store, by their series.
func scraped(t *testing.T, s *sqlstore.Store) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	metrics.New(s).Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	all := map[string]float64{}
	for line := range strings.Lines(w.Body.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(name, "ebb_") || !strings.Contains(line, " ") {
			continue
		}
		var n float64
		if _, err := fmt.Sscan(value, &n); err != nil {
			t.Fatal(line, err)
		}
		all[name] = n
	}
	return all
}
