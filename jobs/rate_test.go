package jobs_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
)

func limit(t *testing.T, b *jobs.Board, limits ...storage.Limit) {
	t.Helper()
	for _, l := range limits {
		must(t, backend.Of(b.Store()).SetLimit(t.Context(), l))
	}
}

// testRate: a rate holds for all claimants together, counts each claim, follows priority and age, and does not delay
// jobs that it does not count.
func testRate(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{Backoff: atom.Constant(time.Millisecond)})
	limit(t, b,
		storage.Limit{Flow: "f", Rate: 3, Per: 24 * time.Hour}, storage.Limit{Label: "customer", Rate: 1, Per: 24 * time.Hour})
	of := func(customer string) map[string]string { return map[string]string{"customer": customer} }
	post(t, b,
		jobs.Job{ID: "a", Flow: "f"}, jobs.Job{ID: "b", Flow: "f", Priority: -1}, jobs.Job{ID: "c", Flow: "f"}, jobs.Job{ID: "d", Flow: "f", Priority: 1},
		jobs.Job{ID: "e", Flow: "g", RunLabels: of("x")}, jobs.Job{ID: "g", Flow: "g", RunLabels: of("x")}, jobs.Job{ID: "h", Flow: "g", RunLabels: of("y")})
	first := claim(t, b, jobs.ClaimQuery{})
	must(t, b.Retry(t.Context(), first[0], &atom.Failure{Code: "Busy"}))
	if got := ids(first) + ids(claim(t, other, jobs.ClaimQuery{Limit: 9})); got != "daceh" && got != "ddaeh" { // d may wait for its time still
		t.Errorf("claimed %q", got)
	}
	if got := ids(claim(t, b, jobs.ClaimQuery{Limit: 9})); got != "" {
		t.Errorf("claimed %q, which is too much", got)
	}
	if j := stored(t, other, "e"); j.RunLabels["customer"] != "x" {
		t.Errorf("job is %+v", j)
	}
}

// testRateWindow: in each window of a rate's length, no more jobs are claimed than it allows, and jobs are claimed in
// the order of posting.
func testRateWindow(t *testing.T, open opener) {
	const all, rate, per = 12, 4, 100 * time.Millisecond
	policy := jobs.Policy{Lease: time.Hour}
	one, other := open(t, policy)
	limit(t, one, storage.Limit{Flow: "f", Rate: rate, Per: per})
	for i := range all {
		post(t, one, jobs.Job{ID: fmt.Sprintf("%02d", i), Flow: "f"})
	}
	var mu sync.Mutex
	var got []storage.Job
	var many sync.WaitGroup
	for i, b := range []*jobs.Board{one, other} {
		many.Go(func() {
			for {
				list, err := b.Claim(t.Context(), jobs.ClaimQuery{Limit: i + 1})
				mu.Lock()
				for _, c := range list {
					got = append(got, c.Job)
				}
				done := len(got) == all || err != nil
				mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if done {
					return
				}
				if len(list) == 0 {
					pause := time.NewTimer(per / 20)
					<-pause.C
				}
			}
		})
	}
	many.Wait()
	slices.SortFunc(got, func(a, b storage.Job) int { // times of the claims, by the store's clock
		if c := a.Lease.Compare(b.Lease); c != 0 {
			return c
		}
		return 0
	})
	for i := range got {
		if i >= rate && got[i].Lease.Sub(got[i-rate].Lease) < per {
			t.Errorf("%s was claimed %v after %s, with %d in between", got[i].ID, got[i].Lease.Sub(got[i-rate].Lease), got[i-rate].ID, rate-1)
		}
		if i > 0 && got[i-1].ID > got[i].ID && got[i-1].Lease.Before(got[i].Lease) {
			t.Errorf("%s was claimed before %s", got[i-1].ID, got[i].ID)
		}
	}
}
