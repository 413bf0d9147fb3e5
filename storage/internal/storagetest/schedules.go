package storagetest

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func testSchedules(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	past, later := at(-3600*24*365), time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC()
	one := backend.Schedule{
		ID: "one", Spec: "TZ=Europe/Rome 0 4 * * *", Flow: "trip", Version: 3, Input: value(1),
		Needs:  map[string]string{"gpu": "yes"},
		Labels: map[string]string{"customer": "x"}, Priority: 7, CatchUp: 2, Created: at(0), Next: past,
	}
	two := backend.Schedule{ID: "a two", Spec: "@daily", Flow: "tour", Created: at(1), Next: later}
	must(t, "PutSchedule", s.PutSchedule(t.Context(), one))
	must(t, "PutSchedule", s.PutSchedule(t.Context(), two))
	want(t, "PutSchedule without an id", s.PutSchedule(t.Context(), backend.Schedule{}), storage.ErrInvalid)
	want(t, "PutSchedule", s.PutSchedule(t.Context(), backend.Schedule{ID: strings.Repeat("x", backend.MaxScheduleID+1)}),
		storage.ErrInvalid)
	look := func() backend.Schedule {
		t.Helper()
		return ask[backend.Schedule](t, "Schedule")(other.Schedule(t.Context(), "one"))
	}
	ignored := cmpopts.IgnoreFields(backend.Schedule{}, "Mark")
	same(t, "schedule", one, look(), ignored)
	same(t, "schedules", []backend.Schedule{two, one},
		ask[[]backend.Schedule](t, "Schedules")(other.Schedules(t.Context(), backend.ScheduleQuery{})), ignored)
	for _, after := range []string{"a two", "b is gone"} {
		same(t, "schedules after "+after, []backend.Schedule{one}, ask[[]backend.Schedule](t, "Schedules")(
			other.Schedules(t.Context(), backend.ScheduleQuery{After: after, Limit: 1})), ignored)
	}
	same(t, "the first schedule", []backend.Schedule{two}, ask[[]backend.Schedule](t, "Schedules")(
		other.Schedules(t.Context(), backend.ScheduleQuery{Limit: 1})), ignored)
	_, err := s.Schedule(t.Context(), "none")
	want(t, "Schedule", err, storage.ErrNotFound)

	due := func(ids ...string) time.Time {
		t.Helper()
		list, now, next, err := other.DueSchedules(t.Context(), backend.Schedule{}, 0)
		must(t, "DueSchedules", err)
		var got []string
		for i := range list {
			got = append(got, list[i].ID)
		}
		if !slices.Equal(got, ids) || now.IsZero() {
			t.Errorf("at %v %q are due, want %q", now, got, ids)
		}
		return next
	}
	if next := due("one"); !next.Equal(later) {
		t.Errorf("the next is due at %v, want %v", next, later)
	}

	// A tick is posted once, by the process that saw the current schedule.
	seen := look()
	jobs := []storage.Job{
		{ID: "j1", Flow: "trip", Created: at(2), RunLabels: one.Labels},
		{ID: "j2", Flow: "trip", Created: at(2)},
	}
	post(t, s, jobs[1])
	move := backend.ScheduleMove{ID: "one", Mark: seen.Mark, Next: later.Add(time.Hour), Last: past, Jobs: jobs}
	must(t, "MoveSchedule", s.MoveSchedule(t.Context(), move))
	want(t, "MoveSchedule again", other.MoveSchedule(t.Context(), move), storage.ErrFenced)
	want(t, "MoveSchedule of none", other.MoveSchedule(t.Context(), backend.ScheduleMove{ID: "none"}), storage.ErrNotFound)
	version := one
	version.Next, version.Last = later.Add(time.Hour), past
	same(t, "schedule", version, look(), ignored)
	same(t, "job", jobs[0], ask[storage.Job](t, "Job")(s.Job(t.Context(), "j1")))
	due()

	// A replaced schedule keeps the jobs that it posted. It also keeps its next tick if it ticks as before.
	one.Next, one.Created, one.Paused = past, at(9), true
	must(t, "PutSchedule", other.PutSchedule(t.Context(), one))
	same(t, "schedule", version, look(), ignored)
	one.Spec = "@hourly"
	must(t, "PutSchedule", other.PutSchedule(t.Context(), one))
	version.Next, version.Spec = past, one.Spec
	same(t, "schedule", version, look(), ignored)
	due("one")
	// A paused schedule is not due. Nor is one without a next tick.
	must(t, "MoveSchedule", s.MoveSchedule(t.Context(), backend.ScheduleMove{
		ID: "one", Mark: look().Mark, Next: past,
		Paused: true,
	}))
	if next := due(); !next.Equal(later) {
		t.Errorf("the next is due at %v, want %v", next, later)
	}
	must(t, "MoveSchedule", s.MoveSchedule(t.Context(), backend.ScheduleMove{ID: "one", Mark: look().Mark}))
	due()
	must(t, "DeleteSchedule", s.DeleteSchedule(t.Context(), "a two"))
	want(t, "DeleteSchedule again", other.DeleteSchedule(t.Context(), "a two"), storage.ErrNotFound)
	if next := due(); !next.IsZero() {
		t.Errorf("the next is due at %v, want none", next)
	}
	must(t, "PutSchedule", s.PutSchedule(t.Context(), backend.Schedule{ID: "b", Next: past.Add(time.Second)}))
	must(t, "PutSchedule", s.PutSchedule(t.Context(), backend.Schedule{ID: "c", Next: past}))
	after := backend.Schedule{}
	for _, id := range []string{"c", "b", ""} {
		list, _, _, err := s.DueSchedules(t.Context(), after, 1)
		if err != nil || id != "" && (len(list) != 1 || list[0].ID != id) || id == "" && len(list) > 0 {
			t.Fatalf("after %q is %+v (%v), want %q", after.ID, list, err, id)
		}
		if len(list) > 0 {
			after = list[0]
		}
	}
}

// testRaceSchedules: of many goroutines that post a tick, one succeeds.
func testRaceSchedules(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	must(t, "PutSchedule", s.PutSchedule(t.Context(), backend.Schedule{ID: "s", Next: at(0)}))
	seen := ask[backend.Schedule](t, "Schedule")(s.Schedule(t.Context(), "s"))
	var version, fenced atomic.Int32
	var many sync.WaitGroup
	for i := range 8 {
		by := []backend.Store{s, other}[i%2]
		many.Go(func() {
			err := by.MoveSchedule(t.Context(), backend.ScheduleMove{
				ID: "s", Mark: seen.Mark, Next: at(60), Jobs: []storage.Job{{ID: string(rune('a' + i)), Flow: "f"}},
			})
			if err == nil {
				version.Add(1)
			} else {
				want(t, "MoveSchedule", err, storage.ErrFenced)
				fenced.Add(1)
			}
		})
	}
	many.Wait()
	jobs := ask[[]storage.Job](t, "JobList")(s.JobList(t.Context(), storage.JobQuery{}))
	if version.Load() != 1 || fenced.Load() != 7 || len(jobs) != 1 {
		t.Errorf("%d posted it, %d were told that it was posted, and %d jobs are there", version.Load(), fenced.Load(),
			len(jobs))
	}
}

// testPurgeJobs deletes jobs that have ended, and whose run no longer exists.
func testPurgeJobs(t *testing.T, m Maker) {
	s := m.open(t)
	of := func(flow, id string) storage.Job { return storage.Job{ID: id, Run: id, Flow: flow, Created: at(0)} }
	post(t, s, of("trip", "a"), of("trip", "b"), of("tour", "c"), of("tour", "d"), of("trip", "open"))
	r := run("b")
	r.Job = "b"
	create(t, s, r)
	for _, id := range []string{"a", "c", "d"} {
		must(t, "EndJob", s.EndJob(t.Context(), backend.JobEnd{Job: id, State: states.JobComplete}))
	}
	p := begin(t, s, "b")
	must(t, "Commit", p.commit(t.Context(), p.next(backend.Checkpoint{
		Head: backend.Head{State: states.FlowSuccess, Release: true},
		Job:  &backend.JobEnd{Job: "b", State: states.JobComplete},
	})))
	for _, id := range []string{"a", "b", "c"} {
		if j := ask[storage.Job](t, "Job")(s.Job(t.Context(), id)); time.Since(j.Ended).Abs() > 24*time.Hour {
			t.Errorf("job %s ended at %v", id, j.Ended)
		}
	}
	tomorrow := time.Now().Add(24 * time.Hour)
	for _, c := range []struct {
		q    backend.JobPurge
		want int
	}{
		{backend.JobPurge{Before: tomorrow.Add(-48 * time.Hour)}, 0},
		{backend.JobPurge{Before: tomorrow, Flow: "tour", Limit: 1}, 1},
		{backend.JobPurge{Before: tomorrow, Except: []string{"trip"}}, 1},
		{backend.JobPurge{Before: tomorrow, Except: []string{"tour"}}, 1}, // b still has its run
		{backend.JobPurge{Before: tomorrow}, 0},
	} {
		if n := ask[int](t, "PurgeJobs")(s.PurgeJobs(t.Context(), c.q)); n != c.want {
			t.Errorf("%+v purged %d, want %d", c.q, n, c.want)
		}
	}
	ask[int](t, "Purge")(s.Purge(t.Context(), "b"))
	if n := ask[int](t, "PurgeJobs")(s.PurgeJobs(t.Context(), backend.JobPurge{Before: tomorrow})); n != 1 {
		t.Errorf("when its run was gone %d were purged, want b", n)
	}
	if got := joined(ask[[]storage.Job](t, "JobList")(s.JobList(t.Context(), storage.JobQuery{})), jobID); got != "open" {
		t.Errorf("left are %q", got)
	}
}
