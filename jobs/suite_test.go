package jobs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An opener returns two boards with a policy on the same empty records, as two processes would have them. It closes
// them when the test ends.
type opener func(t *testing.T, policy jobs.Policy) (one, other *jobs.Board)

// A suite is what every board passes, on each kind of store. It waits for leases to expire, so a board in memory is
// tested in virtual time.
var suite = []struct {
	name string
	test func(*testing.T, opener)
}{
	{"Post", testPost},
	{"PostMany", testPostMany},
	{"Unique", testUnique},
	{"Order", testOrder},
	{"Offers", testOffers},
	{"NotBefore", testNotBefore},
	{"LeaseRunsOut", testLeaseRunsOut},
	{"ParkedLate", testParkedLate},
	{"Retry", testRetry},
	{"ClaimedInVain", testClaimedInVain},
	{"ByHand", testByHand},
	{"EachOnce", testEachOnce},
	{"Rate", testRate},
	{"RateWindow", testRateWindow},
	{"Schedule", testSchedule},
	{"ScheduleEachOnce", testScheduleEachOnce},
	{"ScheduleCatchUp", testScheduleCatchUp},
	{"SchedulePause", testSchedulePause},
	{"LongTimes", testLongTimes},
}

// short is a lease that expires while a test waits.
const short = 20 * time.Millisecond

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: got %v, want %v", what, err, target)
	}
}

func post(t *testing.T, b *jobs.Board, list ...jobs.Job) {
	t.Helper()
	if _, err := b.Post(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
}

func claim(t *testing.T, b *jobs.Board, w jobs.ClaimQuery) []jobs.Claim {
	t.Helper()
	list, err := b.Claim(t.Context(), w)
	must(t, err)
	return list
}

// soon claims one job as soon as one is free.
func soon(t *testing.T, b *jobs.Board) jobs.Claim {
	t.Helper()
	tick := time.NewTicker(short / 4)
	defer tick.Stop()
	for {
		if list := claim(t, b, jobs.ClaimQuery{}); len(list) > 0 {
			return list[0]
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("there was none")
		}
	}
}

// ids returns the ids of the claimed jobs, joined.
func ids(list []jobs.Claim) string {
	var all strings.Builder
	for i := range list {
		all.WriteString(list[i].Job.ID)
	}
	return all.String()
}

func stored(t *testing.T, b *jobs.Board, id string) storage.Job {
	t.Helper()
	j, err := b.Job(t.Context(), id)
	must(t, err)
	return j
}

func testPost(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{})
	got, err := b.Post(t.Context(), jobs.Job{Flow: "f"}, jobs.Job{ID: "j", Flow: "g", Version: 2, Run: "r", Input: map[string]int{"n": 1}})
	must(t, err)
	if len(got) != 2 || got[0] == "" || got[1] != "j" {
		t.Fatalf("posted %q", got)
	}
	if j := stored(t, other, got[0]); j.Run != got[0] || j.Flow != "f" || j.State != states.JobUnclaimed || j.Created.IsZero() {
		t.Errorf("job is %+v", j)
	}
	var input struct{ N int }
	j := stored(t, other, "j")
	must(t, j.Input.Decode(&input))
	if j.Run != "r" || j.Version != 2 || input.N != 1 {
		t.Errorf("job is %+v", j)
	}
	_, err = other.Post(t.Context(), jobs.Job{ID: "new", Flow: "f"}, jobs.Job{ID: "j", Flow: "another", Run: "r"})
	want(t, "Post of another job with a known id", err, storage.ErrJobDiffers)
	_, err = other.Job(t.Context(), "new")
	want(t, "a job beside it", err, storage.ErrNotFound)
	if j := stored(t, b, "j"); j.Flow != "g" {
		t.Errorf("then the job is %+v", j)
	}
	_, err = b.Post(t.Context(), jobs.Job{ID: "x"})
	want(t, "Post without a flow", err, storage.ErrInvalid)
	_, err = b.Job(t.Context(), "x")
	want(t, "Job", err, storage.ErrNotFound)
	if _, err = b.Post(t.Context(), jobs.Job{ID: "y", Flow: "f"}, jobs.Job{ID: "x", Flow: "f", Input: func() {}}); err == nil {
		t.Error("an input that cannot be encoded was taken")
	}
	_, err = b.Job(t.Context(), "y")
	want(t, "Job beside one that cannot be posted", err, storage.ErrNotFound)
}

// testPostMany posts more jobs than share a commit, some of them large. They are claimed in the order of the list.
func testPostMany(t *testing.T, open opener) {
	b, _ := open(t, jobs.Policy{})
	large := strings.Repeat("x", 900_000)
	list := make([]jobs.Job, 1201)
	for i := range list {
		list[i] = jobs.Job{ID: fmt.Sprint(i), Flow: "f"}
		if i%90 == 0 { // several within the bytes of a commit
			list[i].Input = map[string]string{"text": large}
		}
	}
	got, err := b.Post(t.Context(), list...)
	must(t, err)
	claims := claim(t, b, jobs.ClaimQuery{Limit: len(list)})
	if len(got) != len(list) || len(claims) != len(list) {
		t.Fatalf("posted %d, claimed %d", len(got), len(claims))
	}
	for i := range list {
		if got[i] != list[i].ID || claims[i].Job.ID != list[i].ID {
			t.Fatalf("posted %s as number %d, claimed %s", got[i], i, claims[i].Job.ID)
		}
	}
}

func testOrder(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{})
	post(t, b, jobs.Job{ID: "a", Flow: "f"}, jobs.Job{ID: "b", Flow: "f", Priority: 1}, jobs.Job{ID: "c", Flow: "g"})
	post(t, other, jobs.Job{ID: "d", Flow: "f", Priority: 1}, jobs.Job{ID: "e", Flow: "f", Priority: -1})
	if got := ids(claim(t, other, jobs.ClaimQuery{Flows: []string{"f"}, Limit: 3})); got != "bda" {
		t.Errorf("claimed %q, want bda", got)
	}
	if got := ids(claim(t, b, jobs.ClaimQuery{})); got != "c" {
		t.Errorf("claimed %q, want c", got)
	}
	if got := ids(claim(t, b, jobs.ClaimQuery{Limit: 9})); got != "e" {
		t.Errorf("claimed %q, want e", got)
	}
}

func testOffers(t *testing.T, open opener) {
	b, _ := open(t, jobs.Policy{})
	post(t, b,
		jobs.Job{ID: "a", Flow: "f", Labels: map[string]string{"gpu": "yes"}},
		jobs.Job{ID: "b", Flow: "f", Labels: map[string]string{"gpu": "yes", "zone": "eu"}},
		jobs.Job{ID: "c", Flow: "f"})
	if got := ids(claim(t, b, jobs.ClaimQuery{Limit: 9, Offers: map[string]string{"zone": "eu"}})); got != "c" {
		t.Errorf("claimed %q, want c", got)
	}
	if got := ids(claim(t, b, jobs.ClaimQuery{Limit: 9, Offers: map[string]string{"gpu": "yes", "zone": "us"}})); got != "a" {
		t.Errorf("claimed %q, want a", got)
	}
	if got := ids(claim(t, b, jobs.ClaimQuery{Limit: 9, Offers: map[string]string{"gpu": "yes", "zone": "eu", "more": ""}})); got != "b" {
		t.Errorf("claimed %q, want b", got)
	}
}

func testNotBefore(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{})
	at := time.Now().Add(short)
	post(t, b, jobs.Job{ID: "later", Flow: "f", NotBefore: time.Now().Add(time.Hour)}, jobs.Job{ID: "soon", Flow: "f", NotBefore: at})
	c := soon(t, other)
	if early := time.Until(at); c.Job.ID != "soon" || early > 0 {
		t.Errorf("claimed %q %v early", c.Job.ID, early)
	}
	if got := ids(claim(t, other, jobs.ClaimQuery{})); got != "" {
		t.Errorf("claimed %q an hour early", got)
	}
}

func testLeaseRunsOut(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{Lease: short})
	post(t, b, jobs.Job{ID: "j", Flow: "f"})
	first := soon(t, b)
	second := soon(t, other)
	if second.Job.ID != "j" || second.Job.Epoch <= first.Job.Epoch || second.Job.Attempts != 2 {
		t.Fatalf("claimed %+v after %+v", second.Job, first.Job)
	}
	why := &atom.Failure{Code: "Late"}
	for what, err := range map[string]error{
		"Retry": b.Retry(t.Context(), first, why), "Park": b.Park(t.Context(), first, why),
	} {
		want(t, what+" by the first", err, storage.ErrFenced)
	}
	must(t, other.Park(t.Context(), second, why))
	want(t, "Park again", other.Park(t.Context(), second, why), storage.ErrFenced)
	if j := stored(t, b, "j"); j.State != states.JobParked || j.Failure.Code != "Late" {
		t.Errorf("job is %+v", j)
	}
}

func testParkedLate(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{Lease: short})
	post(t, b, jobs.Job{ID: "j", Flow: "f"})
	c := soon(t, b)
	for time.Now().Before(c.Until) { // no other claimant claims
		tick := time.NewTimer(short)
		<-tick.C
	}
	must(t, b.Park(t.Context(), c, &atom.Failure{Code: "Late"}))
	if got := ids(claim(t, other, jobs.ClaimQuery{})); got != "" {
		t.Errorf("claimed %q, which is parked", got)
	}
}

func testRetry(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{Attempts: 3, Backoff: atom.Constant(short)})
	post(t, b, jobs.Job{ID: "j", Flow: "f"})
	for n := 1; n <= 3; n++ {
		c := soon(t, other)
		if c.Job.Attempts != n {
			t.Fatalf("attempt %d is %+v", n, c.Job)
		}
		gave := time.Now()
		must(t, other.Retry(t.Context(), c, &atom.Failure{Code: "Busy", Attempt: n}))
		j := stored(t, b, "j")
		if j.Failure == nil || j.Failure.Code != "Busy" || j.Failure.Attempt != n {
			t.Errorf("after attempt %d the failure is %v", n, j.Failure)
		}
		switch {
		case n == 3 && j.State != states.JobParked, n < 3 && j.State != states.JobScheduled:
			t.Errorf("after attempt %d the job is %v", n, j.State)
		case n < 3 && j.NotUntil.Before(gave.Add(short-time.Millisecond)):
			t.Errorf("given back at %v, it waits until %v", gave, j.NotUntil)
		}
	}
	must(t, b.Release(t.Context(), "j"))
	if c := soon(t, b); c.Job.Attempts != 1 {
		t.Errorf("released, it is %+v", c.Job)
	}
}

// testClaimedInVain: a job that kills each process that claims it is not claimed for ever.
func testClaimedInVain(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{Lease: short, Attempts: 2})
	post(t, b, jobs.Job{ID: "j", Flow: "f"})
	soon(t, b)
	soon(t, other)
	post(t, b, jobs.Job{ID: "k", Flow: "f", Priority: -1, NotBefore: time.Now().Add(3 * short)})
	if c := soon(t, b); c.Job.ID != "k" {
		t.Fatalf("claimed %+v", c.Job)
	}
	if j := stored(t, b, "j"); j.State != states.JobParked || j.Failure == nil || j.Failure.Code != atom.CodeLost || j.Failure.Attempt != 2 {
		t.Errorf("job is %+v", j)
	}
}

func testByHand(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{})
	post(t, b, jobs.Job{ID: "a", Flow: "f", NotBefore: time.Now().Add(time.Hour)}, jobs.Job{ID: "b", Flow: "f", Priority: -1})
	must(t, other.Release(t.Context(), "a"))
	c := claim(t, b, jobs.ClaimQuery{})[0]
	if c.Job.ID != "a" {
		t.Fatalf("claimed %+v", c.Job)
	}
	want(t, "Release of a claimed job", other.Release(t.Context(), "a"), jobs.ErrRefused)
	want(t, "Cancel of a claimed job", other.Cancel(t.Context(), "a", "no"), jobs.ErrRefused)
	must(t, b.Park(t.Context(), c, &atom.Failure{Code: "Odd"}))
	if got := ids(claim(t, b, jobs.ClaimQuery{})); got != "b" {
		t.Errorf("claimed %q", got)
	}
	must(t, other.Cancel(t.Context(), "a", "not wanted any more"))
	if j := stored(t, b, "a"); j.State != states.JobComplete || j.Failure.Code != atom.CodeCancelled || j.Failure.Message != "not wanted any more" {
		t.Errorf("job is %+v", j)
	}
	want(t, "Release of one that has ended", other.Release(t.Context(), "a"), jobs.ErrRefused)
	want(t, "Cancel of none", other.Cancel(t.Context(), "none", ""), storage.ErrNotFound)
	list, err := b.List(t.Context(), storage.JobQuery{States: []states.Job{states.JobComplete}})
	if err != nil || len(list) != 1 || list[0].ID != "a" {
		t.Errorf("listed %+v (%v)", list, err)
	}
}

// testEachOnce: many claimants claim at once, and none gets the job of another.
func testEachOnce(t *testing.T, open opener) {
	one, other := open(t, jobs.Policy{})
	const all = 60
	for i := range all {
		post(t, one, jobs.Job{ID: fmt.Sprintf("%02d", i), Flow: "f"})
	}
	var mu sync.Mutex
	var got []string
	var wg sync.WaitGroup
	for i, b := range []*jobs.Board{one, other, one, other} {
		wg.Go(func() {
			for {
				list, err := b.Claim(t.Context(), jobs.ClaimQuery{Limit: i + 1})
				if err != nil {
					t.Error(err)
				}
				if len(list) == 0 {
					return
				}
				mu.Lock()
				for _, c := range list {
					got = append(got, c.Job.ID)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(got)
	if len(got) != all || len(slices.Compact(got)) != all {
		t.Errorf("claimed %v", got)
	}
}
