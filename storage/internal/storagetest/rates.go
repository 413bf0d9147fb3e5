package storagetest

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testRates: all claimants together claim no more jobs within a time than a rate allows, in
// the order of the board. Jobs that the rate does not count are not delayed.
func testRates(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	rate := storage.Limit{Flow: "trip", Rate: 2, Per: 24 * time.Hour}
	setLimits(t, s, rate)
	limits, err := other.Limits(t.Context())
	must(t, "Limits", err)
	if diff := cmp.Diff([]storage.Limit{rate}, limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	for i, flow := range []string{"trip", "trip", "tour", "trip", "trip", "trip"} {
		post(t, s, storage.Job{ID: strconv.Itoa(i), Flow: flow, Created: at(i)})
	}
	post(t, s, storage.Job{ID: "!", Flow: "trip", Priority: 1})
	take := func(by backend.Store, want string) []storage.Job {
		t.Helper()
		list := claim(t, by, backend.JobClaim{Lease: time.Hour, Limit: 9})
		if got := joined(list, jobID); got != want {
			t.Errorf("claimed %q, want %q", got, want)
		}
		return list
	}
	first := take(other, "!02")
	take(s, "")
	// Released claims count, and another claim counts again.
	must(t, "EndJob", s.EndJob(t.Context(), backend.JobEnd{
		Job: "!", Epoch: first[0].Epoch, ClaimID: first[0].ClaimID,
		State: states.JobUnclaimed,
	}))
	take(s, "")
	rate.Rate = 4
	setLimits(t, other, rate)
	take(s, "!1")
	take(other, "")
	// The next claim is allowed when enough of the claims are over.
	for _, c := range []struct {
		job  storage.Job
		used int
	}{{storage.Job{ID: "3", Flow: "trip"}, 4}, {storage.Job{ID: "6", Flow: "tour"}, 0}} {
		switch rated, err := s.Rated(t.Context(), &c.job); {
		case err != nil || (rated != nil) != (c.used > 0):
			t.Errorf("job %s waits for %v (%v)", c.job.ID, rated, err)
		case rated == nil:
		case rated.Run != "3" || rated.Limit != rate || rated.Used != c.used ||
			time.Until(rated.Next) > rate.Per || time.Until(rated.Next) < rate.Per-time.Hour:
			t.Errorf("job %s waits for %+v, want the rate and its use", c.job.ID, rated)
		}
	}
	// A limit of runs on the same flow does not change the rate, nor does a run of the flow.
	rate.Runs = 1
	setLimits(t, s, rate)
	create(t, s, labeled("a", "trip", nil), labeled("b", "trip", nil))
	begin(t, s, "a")
	if limited, err := s.Limited(t.Context(), "b"); err != nil || limited == nil || limited.Limit != rate {
		t.Errorf("it waits for %v (%v), want %v", limited, err, rate)
	}
	take(s, "")
	setLimits(t, s, storage.Limit{Flow: "trip"})
	take(s, "345")
	for _, bad := range []storage.Limit{
		{Rate: -1},
		{Rate: backend.MaxRate + 1, Per: time.Hour},
		{Rate: 1},
		{Rate: 1, Per: backend.MinPer - 1},
		{Rate: 1, Per: backend.MaxPer + 1},
	} {
		want(t, "SetLimit", s.SetLimit(t.Context(), bad), storage.ErrInvalid)
	}

	// When the period is over, the rate allows other claims.
	setLimits(t, s, storage.Limit{Rate: 1, Per: backend.MinPer})
	post(t, s, storage.Job{ID: "x", Flow: "any"}, storage.Job{ID: "y", Flow: "other"})
	var got string
	for by := time.Now().Add(time.Minute); len(got) < 2 && time.Now().Before(by); {
		list := claim(t, s, backend.JobClaim{Lease: time.Hour, Limit: 9})
		if len(list) > 1 {
			t.Fatalf("%d were claimed at once", len(list))
		}
		got += joined(list, jobID)
	}
	if got != "xy" {
		t.Errorf("claimed %q, want xy", got)
	}
}

// testRatesOfLabels counts each value of a label by itself.
func testRatesOfLabels(t *testing.T, m Maker) {
	s := m.open(t)
	setLimits(t, s,
		storage.Limit{Label: "customer", Rate: 1, Per: time.Hour}, storage.Limit{
			Flow: "trip", Label: "needs.gpu", Rate: 2,
			Per: time.Hour,
		},
		storage.Limit{Flow: "trip", Runs: 1})
	for i, c := range []struct{ flow, customer, gpu string }{
		{"trip", "x", ""},
		{"tour", "x", ""},
		{"trip", "y", "a"},
		{"trip", "", "a"},
		{"trip", "", "a"},
		{"tour", "", "a"},
		{"trip", "", "b"},
	} {
		j := storage.Job{ID: strconv.Itoa(i), Flow: c.flow, Labels: map[string]string{}, RunLabels: map[string]string{}}
		if c.customer != "" {
			j.RunLabels["customer"] = c.customer
		}
		if c.gpu != "" {
			j.Labels["gpu"] = c.gpu
		}
		post(t, s, j)
	}
	var claimed strings.Builder
	for range 9 { // in turns, because one rate may refuse jobs that another one allows
		claimed.WriteString(joined(claim(t, s, backend.JobClaim{Lease: time.Hour, Labels: map[string]string{"gpu": "a"}}),
			jobID))
	}
	if got := claimed.String(); got != "0235" {
		t.Errorf("claimed %q, want 0235", got)
	}
	if got := joined(claim(t, s, backend.JobClaim{Lease: time.Hour, Labels: map[string]string{"gpu": "b"}, Limit: 9}),
		jobID); got != "6" {
		t.Errorf("claimed %q, want 6", got)
	}
}

// testRaceRates: concurrent claimants together get as many jobs as one claimant.
func testRaceRates(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	setLimits(t, s, storage.Limit{Flow: "f", Rate: 7, Per: time.Hour})
	for i := range 20 {
		post(t, s, storage.Job{ID: strconv.Itoa(i), Flow: "f"})
	}
	var claimed atomic.Int32
	var many sync.WaitGroup
	for i := range 8 {
		by := []backend.Store{s, other}[i%2]
		many.Go(func() {
			for {
				list, err := by.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour, Limit: 1 + i%3})
				must(t, "ClaimJobs", err)
				if len(list) == 0 {
					return
				}
				claimed.Add(int32(len(list)))
			}
		})
	}
	many.Wait()
	if n := claimed.Load(); n != 7 {
		t.Errorf("%d were claimed, want 7", n)
	}
}
