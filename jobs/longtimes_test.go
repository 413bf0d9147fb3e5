package jobs_test

import (
	"math"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
)

// testLongTimes: leases, pauses and numbers at their ends are long ones, or the defaults. None of them has passed already.
func testLongTimes(t *testing.T, open opener) {
	const forever = time.Duration(math.MaxInt64)
	for name, policy := range map[string]jobs.Policy{
		"longest":   {Lease: forever, Attempts: math.MaxInt, Backoff: atom.Constant(forever)},
		"shortest":  {Lease: math.MinInt64, Attempts: math.MinInt, Backoff: atom.Backoff{First: time.Hour, Max: -1, Jitter: -1}},
		"no number": {Backoff: atom.Backoff{First: time.Hour, Rate: math.NaN(), Jitter: math.NaN()}},
		"infinite":  {Lease: forever - 1, Backoff: atom.Backoff{First: time.Hour, Rate: math.Inf(1), Jitter: math.Inf(-1)}},
	} {
		b, other := open(t, policy)
		post(t, b, jobs.Job{ID: name, Flow: "f"})
		c := claim(t, b, jobs.ClaimQuery{})
		if len(c) != 1 || time.Until(c[0].Until) <= 0 {
			t.Fatalf("%s: claimed %+v", name, c)
		}
		if got := claim(t, other, jobs.ClaimQuery{}); len(got) > 0 {
			t.Errorf("%s: another claims %v", name, ids(got))
		}
		must(t, b.Retry(t.Context(), c[0], &atom.Failure{Code: "Busy"}))
		if job := stored(t, b, name); job.State != states.JobScheduled || time.Until(job.NotUntil) < time.Minute {
			t.Errorf("%s is %v until %v", name, job.State, job.NotUntil)
		}
		if got := claim(t, other, jobs.ClaimQuery{}); len(got) > 0 {
			t.Errorf("%s: another claims %v", name, ids(got))
		}
		must(t, b.Cancel(t.Context(), name, "enough"))
	}
}
