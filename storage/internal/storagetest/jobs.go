package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func post(t tester, s backend.Store, jobs ...storage.Job) {
	t.Helper()
	for _, j := range jobs {
		must(t, "PostJob", s.PostJob(t.Context(), j))
	}
}

func claim(t tester, s backend.Store, q backend.JobClaim) []storage.Job {
	t.Helper()
	return ask[[]storage.Job](t, "ClaimJobs")(s.ClaimJobs(t.Context(), q))
}

func job(t tester, s backend.Store) storage.Job {
	t.Helper()
	return ask[storage.Job](t, "Job")(s.Job(t.Context(), "j"))
}

func jobID(j storage.Job) string { return j.ID }

// testPostJobs posts many jobs at once: those whose ids are taken are left out, and the others are claimed in the order
// of the list.
func testPostJobs(t *testing.T, m Maker) {
	s := m.open(t)
	must(t, "PostJob of none", s.PostJob(t.Context()))
	post(t, s, storage.Job{ID: "b", Flow: "first"})
	list := make([]storage.Job, 0, 20)
	for i := range cap(list) {
		list = append(list, storage.Job{ID: string(rune('t' - i)), Flow: "second"})
	}
	for what, other := range map[string]storage.Job{
		"flow": list[18], "run": {ID: "b", Flow: "first", Run: "other"}, "input": {ID: "b", Flow: "first", Input: value(1)},
		"input of an earlier one in the list": {ID: "t", Flow: "second", Input: value(1)},
	} {
		err := s.PostJob(t.Context(), append(slices.Delete(slices.Clone(list), 18, 19), other)...)
		want(t, "PostJob of another "+what, err, storage.ErrJobDiffers)
		says := fmt.Sprintf("job %q has another %s", other.ID, strings.Fields(what)[0])
		if err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("another %s: %v", what, err)
		}
		if all, err := s.JobList(t.Context(), storage.JobQuery{}); err != nil || len(all) != 1 {
			t.Errorf("posted beside another %s: %d jobs, %v", what, len(all)-1, err)
		}
	}
	list[18] = storage.Job{ID: "b", Flow: "first", Input: atom.FromJSON([]byte("{}"))}
	list = append(list, list[0])
	want(t, "PostJob", s.PostJob(t.Context(), list...), storage.ErrExists)
	var got strings.Builder
	for _, j := range claim(t, s, backend.JobClaim{Flows: []string{"second"}, Lease: time.Hour, Limit: 100}) {
		got.WriteString(j.ID)
	}
	if got.String() != "tsrqponmlkjihgfedca" {
		t.Errorf("claimed %s", got.String())
	}
	if j, err := s.Job(t.Context(), "b"); err != nil || j.Flow != "first" {
		t.Errorf("the job that was there is %+v, %v", j, err)
	}
}

// testUniqueJobs posts jobs with a Unique: at most one of them is open. What cannot be posted gets the ID of the open
// one.
func testUniqueJobs(t *testing.T, m Maker) {
	s := m.open(t)
	posted := func(ids, unique string, then ...string) {
		t.Helper()
		var list []storage.Job
		for _, id := range ids {
			list = append(list, storage.Job{ID: string(id), Run: "run of " + string(id), Flow: "f", Unique: unique})
		}
		err := s.PostJob(t.Context(), list...)
		if (err != nil) != (strings.Join(then, "") != ids) || err != nil && !errors.Is(err, storage.ErrExists) {
			t.Errorf("posted %s of %q: %v", ids, unique, err)
		}
		for i, want := range then {
			if list[i].ID != want || list[i].Run != "run of "+want {
				t.Errorf("posted %s of %q: got %+v, want the job %s", ids, unique, list[i], want)
			}
		}
	}
	posted("a", "k", "a")
	posted("bc", "k", "a", "a")
	posted("def", "other", "d", "d", "d")
	posted("gh", "", "g", "h")
	want(t, "PostJob again", s.PostJob(t.Context(), storage.Job{ID: "a", Run: "run of a", Flow: "f", Unique: "k"}),
		storage.ErrExists)
	for _, id := range []string{"b", "c", "e", "f"} {
		if _, err := s.Job(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("job %s: %v", id, err)
		}
	}
	if j, err := s.Job(t.Context(), "a"); err != nil || j.Unique != "k" {
		t.Errorf("job a: %+v, %v", j, err)
	}
	// It is open while it is claimed, is set aside, or waits; not once it has ended.
	one := claim(t, s, backend.JobClaim{Lease: time.Hour})[0]
	posted("b", "k", "a")
	must(t, "EndJob", s.EndJob(t.Context(), backend.JobEnd{
		Job: "a", Epoch: one.Epoch, ClaimID: one.ClaimID, State: states.JobParked,
	}))
	posted("b", "k", "a")
	must(t, "EndJob", s.EndJob(t.Context(), backend.JobEnd{Job: "a", State: states.JobComplete}))
	posted("b", "k", "b")
	posted("c", "k", "b")
	want(t, "a Unique that is too long", s.PostJob(t.Context(), storage.Job{
		ID: "z", Flow: "f", Unique: strings.Repeat("k", backend.MaxID+1),
	}), storage.ErrInvalid)
}

func testJobs(t *testing.T, m Maker) {
	s := m.open(t)
	j := storage.Job{
		ID: "j", Run: "r", Flow: "trip", Version: 3, Input: value(1), Labels: map[string]string{"gpu": "yes"},
		Trace:    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		Priority: 7, State: states.JobScheduled, NotUntil: at(1), Created: at(0),
	}
	post(t, s, j)
	same(t, "job", j, job(t, s))
	want(t, "PostJob again", s.PostJob(t.Context(), j), storage.ErrExists)
	want(t, "PostJob without an id", s.PostJob(t.Context(), storage.Job{}), storage.ErrInvalid)
	want(t, "PostJob with no traceparent", s.PostJob(t.Context(), storage.Job{ID: "k", Trace: "x"}), storage.ErrInvalid)
	want(t, "PostJob of one valid job", s.PostJob(t.Context(), storage.Job{ID: "k"}, storage.Job{}), storage.ErrInvalid)
	_, err := s.Job(t.Context(), "k")
	want(t, "Job beside one that is invalid", err, storage.ErrNotFound)

	got := claim(t, s, backend.JobClaim{Labels: j.Labels, Lease: time.Hour, Limit: 5})
	if len(got) != 1 {
		t.Fatalf("claimed %d jobs", len(got))
	}
	held := j
	held.State, held.Epoch, held.Attempts, held.Owner = states.JobClaimed, 1, 1, s.Owner().ID
	same(t, "claimed job", held, got[0], cmpopts.IgnoreFields(storage.Job{}, "ClaimID", "Lease"))
	if left := time.Until(got[0].Lease); left < 50*time.Minute || left > time.Hour || got[0].ClaimID == "" {
		t.Errorf("claim %q for %v", got[0].ClaimID, left)
	}
	same(t, "job", got[0], job(t, s))

	end := backend.JobEnd{
		Job: "j", Epoch: 1, ClaimID: got[0].ClaimID, State: states.JobParked, NotUntil: at(5),
		Failure: &atom.Failure{Code: "C"},
	}
	wrong := end
	wrong.ClaimID = "other"
	want(t, "EndJob of another claim", s.EndJob(t.Context(), wrong), storage.ErrFenced)
	wrong = end
	wrong.Epoch = 2
	want(t, "EndJob of another epoch", s.EndJob(t.Context(), wrong), storage.ErrFenced)
	must(t, "EndJob", s.EndJob(t.Context(), end))
	parked := j
	parked.State, parked.Epoch, parked.Attempts, parked.NotUntil, parked.Failure = states.JobParked, 1, 1, at(5),
		&atom.Failure{Code: "C"}
	same(t, "parked job", parked, job(t, s))
	want(t, "EndJob again", s.EndJob(t.Context(), end), storage.ErrFenced)
	if got := claim(t, s, backend.JobClaim{Labels: j.Labels, Lease: time.Hour, Limit: 5}); len(got) != 0 {
		t.Errorf("a parked job was claimed")
	}
}

func testJobClaims(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	post(t, s, storage.Job{ID: "later", State: states.JobScheduled, NotUntil: time.Now().Add(time.Hour), Created: at(0)})
	post(t, s, storage.Job{ID: "j", Created: at(0)})
	q := backend.JobClaim{Lease: time.Hour, Limit: 5}
	first := claim(t, s, backend.JobClaim{Lease: -time.Second, Limit: 5})
	if len(first) != 1 || first[0].ID != "j" {
		t.Fatalf("claimed %+v", first)
	}
	// After the lease expired, another process has the job, and the store refuses the first one.
	second := claim(t, other, q)
	if len(second) != 1 || second[0].Epoch != 2 || second[0].Attempts != 2 || second[0].ClaimID == first[0].ClaimID {
		t.Fatalf("second claim is %+v", second)
	}
	if got := claim(t, s, q); len(got) != 0 {
		t.Fatalf("a claimed job was claimed again: %+v", got)
	}
	late := backend.JobEnd{Job: "j", Epoch: 1, ClaimID: first[0].ClaimID, State: states.JobComplete}
	want(t, "EndJob by the first", s.EndJob(t.Context(), late), storage.ErrFenced)

	// After a release, the epoch continues.
	must(t, "EndJob", other.EndJob(t.Context(), backend.JobEnd{
		Job: "j", Epoch: 2, ClaimID: second[0].ClaimID, State: states.JobUnclaimed,
	}))
	third := claim(t, s, q)
	if len(third) != 1 || third[0].Epoch != 3 || third[0].Attempts != 3 {
		t.Fatalf("third claim is %+v", third)
	}
}

func testJobEndInCommit(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	post(t, s, storage.Job{ID: "j", Run: "a", Created: at(0)})
	claimed := claim(t, s, backend.JobClaim{Lease: time.Hour})[0]
	p := begin(t, s, "a")
	end := backend.JobEnd{Job: "j", Epoch: claimed.Epoch, ClaimID: "other", State: states.JobComplete}
	cp := backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess, Release: true}, Job: &end}
	want(t, "Commit under a void claim of the job", p.commit(t.Context(), p.next(cp)), storage.ErrFenced)
	if got := load(t, s, "a"); got.State != states.FlowPending || got.Seq != 0 {
		t.Fatalf("the run was written: %+v", got)
	}
	end.ClaimID = claimed.ClaimID
	p.write(t, cp)
	if got := job(t, s); got.State != states.JobComplete || got.Owner != "" || got.ClaimID != "" {
		t.Errorf("job is %+v", got)
	}
	if got := load(t, s, "a"); got.State != states.FlowSuccess || got.Owner != "" {
		t.Errorf("run is %+v", got)
	}
	must(t, "Commit again", s.Commit(t.Context(), p.claim, &backend.Checkpoint{
		Head: backend.Head{State: states.FlowSuccess, Release: true}, Job: &end,
	}))
}

func testJobOfDeadOwner(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.Join(t, s)
	for i := range 3 {
		post(t, s, storage.Job{ID: strconv.Itoa(i), Created: at(0)})
	}
	if n := len(claim(t, other, backend.JobClaim{Lease: time.Hour, Limit: 3})); n != 3 {
		t.Fatalf("claimed %d jobs", n)
	}
	must(t, "Close", other.Close())
	if n := len(claim(t, s, backend.JobClaim{Lease: time.Hour, Limit: 3})); n != 3 {
		t.Errorf("took over %d of the closed store's 3 jobs", n)
	}
}

// testJobOfRun: from the run's first row on, the job belongs to the run. The job ends with the run, no matter which
// process claimed it.
func testJobOfRun(t *testing.T, m Maker) {
	s := m.open(t)
	post(t, s, storage.Job{ID: "j", Run: "a", Created: at(0)})
	claimed := claim(t, s, backend.JobClaim{Lease: time.Hour})[0]
	other := run("b")
	other.Job = "j"
	want(t, "Create of a run that the job does not want", s.Create(t.Context(), other), storage.ErrFenced)
	other.Job = "nobody's"
	want(t, "Create for a job that is not there", s.Create(t.Context(), other), storage.ErrNotFound)
	if _, err := s.Run(t.Context(), "b"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the run was made: %v", err)
	}
	a := run("a")
	a.Job = "j"
	create(t, s, a)
	if got := load(t, s, "a"); got.Job != "j" {
		t.Errorf("the run is of job %q", got.Job)
	}
	its := job(t, s)
	if its.State != states.JobClaimed || its.ClaimID != "" || its.Owner != "" || !its.Lease.IsZero() || its.Attempts != 0 {
		t.Errorf("job is %+v", its)
	}
	end := backend.JobEnd{Job: "j", Epoch: 1, ClaimID: claimed.ClaimID, State: states.JobComplete}
	want(t, "EndJob by who claimed it", s.EndJob(t.Context(), end), storage.ErrFenced)
	want(t, "EndJob without a claim", s.EndJob(t.Context(), backend.JobEnd{Job: "j", State: states.JobComplete}),
		storage.ErrFenced)
	if again := claim(t, s, backend.JobClaim{Lease: time.Hour}); len(again) != 0 {
		t.Errorf("it was claimed again: %+v", again)
	}

	create(t, s, run("c"))
	c := begin(t, s, "c")
	foreign := backend.Checkpoint{
		Head: backend.Head{State: states.FlowRunning},
		Job:  &backend.JobEnd{Job: "j", State: states.JobComplete},
	}
	want(t, "Commit that ends another run's job", c.commit(t.Context(), c.next(foreign)), storage.ErrFenced)

	p := begin(t, s, "a")
	failure := &atom.Failure{Code: "RevertFailed"}
	p.write(t, backend.Checkpoint{
		Head: backend.Head{State: states.FlowSuspended, Hold: true, Failure: failure, Release: true},
		Job:  &backend.JobEnd{Job: "j", State: states.JobParked, Failure: failure},
	})
	if got := job(t, s); got.State != states.JobParked || got.Failure == nil || got.Failure.Code != "RevertFailed" {
		t.Errorf("job is %+v", got)
	}
	p = begin(t, s, "a")
	over := backend.Checkpoint{
		Head: backend.Head{State: states.FlowReverted, Release: true},
		Job:  &backend.JobEnd{Job: "j", State: states.JobComplete},
	}
	p.write(t, over)
	if got := job(t, s); got.State != states.JobComplete || got.Failure != nil {
		t.Errorf("job is %+v", got)
	}
	p = begin(t, s, "a") // a run that runs again ends again
	p.write(t, over)
	d := run("d")
	d.Job = "j"
	want(t, "Create for a job that has ended", s.Create(t.Context(), d), storage.ErrFenced)
}

// testJobChanged: a caller without a claim may change a job that no process has claimed.
func testJobChanged(t *testing.T, m Maker) {
	s := m.open(t)
	post(t, s, storage.Job{ID: "j", NotUntil: time.Now().Add(time.Hour), Created: at(0)})
	if got := job(t, s); got.State != states.JobScheduled {
		t.Errorf("posted for later, it is %v", got.State)
	}
	for _, to := range []states.Job{
		states.JobUnclaimed, states.JobParked, states.JobUnclaimed, states.JobScheduled,
		states.JobComplete,
	} {
		must(t, "EndJob", s.EndJob(t.Context(), backend.JobEnd{Job: "j", State: to, NotUntil: at(9)}))
		if got := job(t, s); got.State != to || !got.NotUntil.Equal(at(9)) {
			t.Errorf("job is %+v, want %v", got, to)
		}
	}
	want(t, "EndJob of one that has ended", s.EndJob(t.Context(), backend.JobEnd{Job: "j", State: states.JobUnclaimed}),
		storage.ErrInvalid)
	want(t, "EndJob of none", s.EndJob(t.Context(), backend.JobEnd{Job: "none", State: states.JobUnclaimed}),
		storage.ErrNotFound)
}

// testNeeds: a run is due only for a process that offers what the run needs.
func testNeeds(t *testing.T, m Maker) {
	s := m.open(t)
	for _, r := range []struct {
		id     string
		labels map[string]string
	}{
		{"a", nil},
		{"b", map[string]string{"needs.gpu": "yes", "who": "me"}},
		{"c", map[string]string{"needs.gpu": "no"}},
		{"d", map[string]string{"needs.gpu": "yes", "needs.zone": "eu"}},
		{"e", map[string]string{"needsgpu": "yes"}},
	} {
		one := run(r.id)
		one.Labels, one.Due = r.labels, at(1)
		create(t, s, one)
	}
	for _, c := range []struct {
		offers map[string]string
		want   string
	}{
		{nil, "ae"},
		{map[string]string{"gpu": "yes"}, "abe"},
		{map[string]string{"gpu": "no", "more": ""}, "ace"},
		{map[string]string{"gpu": "yes", "zone": "eu"}, "abde"},
		{map[string]string{"zone": "eu"}, "ae"},
	} {
		due, _, err := s.Due(t.Context(), backend.DueQuery{By: time.Now(), Offers: c.offers})
		if got := joined(due, func(d backend.Due) string { return d.Run }); err != nil || got != c.want {
			t.Errorf("with %v: %q, want %q (%v)", c.offers, got, c.want, err)
		}
	}
}
