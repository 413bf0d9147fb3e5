package jobs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
)

// scheduled returns the schedule with that id.
func scheduled(t *testing.T, b *jobs.Board, id string) backend.Schedule {
	t.Helper()
	list, err := backend.Of(b.Store()).Schedules(t.Context(), backend.ScheduleQuery{})
	must(t, err)
	for i := range list {
		if list[i].ID == id {
			return list[i]
		}
	}
	t.Fatalf("there is no schedule %q among %+v", id, list)
	return backend.Schedule{}
}

func tick(t *testing.T, b *jobs.Board) []string {
	t.Helper()
	posted, _, err := b.Tick(t.Context())
	must(t, err)
	return posted
}

// until waits until a time has passed.
func until(at time.Time) {
	for time.Now().Before(at) {
		t := time.NewTimer(time.Until(at))
		<-t.C
	}
}

func testSchedule(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{})
	hour := (time.Now().UTC().Hour() + 12) % 24 // which does not happen during the test
	daily := jobs.Schedule{ID: "daily", Spec: fmt.Sprintf("TZ=UTC 30 %d * * *", hour), Job: jobs.Job{
		Flow: "f", Version: 2, Input: map[string]int{"n": 1}, Priority: 3, Labels: map[string]string{"gpu": "yes"}, RunLabels: map[string]string{"team": "x"},
	}}
	must(t, b.AddSchedule(t.Context(), daily))
	must(t, b.AddSchedule(t.Context(), jobs.Schedule{ID: "a", Spec: "@every 1s", Job: jobs.Job{Flow: "g"}}))
	s := scheduled(t, other, "daily")
	if s.Next.Format(time.TimeOnly) != fmt.Sprintf("%02d:30:00", hour) || time.Until(s.Next) > 24*time.Hour || s.CatchUp != 1 || s.Flow != "f" || s.Version != 2 ||
		s.Priority != 3 || s.Needs["gpu"] != "yes" || s.Labels["team"] != "x" || !s.Last.IsZero() || s.Paused {
		t.Errorf("schedule is %+v", s)
	}

	// The first tick posts the job of the schedule, and returns when the next tick is due.
	var posted []string
	for len(posted) == 0 {
		var wait time.Duration
		var err error
		posted, wait, err = other.Tick(t.Context())
		must(t, err)
		if wait <= 0 || wait > time.Second {
			t.Fatalf("the next tick is in %v, and there is one each second", wait)
		}
		until(time.Now().Add(wait / 4))
	}
	s = scheduled(t, b, "a")
	j := stored(t, b, posted[0])
	if j.ID != jobs.TickID("a", s.Last) || j.Run != j.ID || j.Flow != "g" || !s.Next.After(s.Last) {
		t.Errorf("schedule %+v has posted %+v", s, j)
	}

	// A schedule that is added unchanged continues. A changed one starts again. A removed one no longer exists.
	s = scheduled(t, b, "daily")
	must(t, other.AddSchedule(t.Context(), daily))
	if again := scheduled(t, b, "daily"); !again.Next.Equal(s.Next) || !again.Created.Equal(s.Created) {
		t.Errorf("schedule is %+v, was %+v", again, s)
	}
	daily.Spec, daily.CatchUp = fmt.Sprintf("TZ=UTC 40 %d * * *", hour), 7
	must(t, other.AddSchedule(t.Context(), daily))
	if again := scheduled(t, b, "daily"); again.Next.Format(time.TimeOnly) != fmt.Sprintf("%02d:40:00", hour) || again.CatchUp != 7 {
		t.Errorf("schedule is %+v", again)
	}
	must(t, b.RemoveSchedule(t.Context(), "a"))
	want(t, "RemoveSchedule again", other.RemoveSchedule(t.Context(), "a"), storage.ErrNotFound)
	want(t, "PauseSchedule of none", other.PauseSchedule(t.Context(), "a", true), storage.ErrNotFound)
	if posted := tick(t, b); len(posted) > 0 {
		t.Errorf("%v were posted by none", posted)
	}
	for what, bad := range map[string]jobs.Schedule{
		"no id":      {Spec: "@daily", Job: jobs.Job{Flow: "f"}},
		"no flow":    {ID: "x", Spec: "@daily"},
		"an id":      {ID: "x", Spec: "@daily", Job: jobs.Job{Flow: "f", ID: "j"}},
		"a time":     {ID: "x", Spec: "@daily", Job: jobs.Job{Flow: "f", NotBefore: time.Now()}},
		"catch up":   {ID: "x", Spec: "@daily", Job: jobs.Job{Flow: "f"}, CatchUp: jobs.MaxCatchUp + 1},
		"long an id": {ID: strings.Repeat("x", backend.MaxScheduleID+1), Spec: "@daily", Job: jobs.Job{Flow: "f"}},
	} {
		want(t, what, b.AddSchedule(t.Context(), bad), storage.ErrInvalid)
	}
	want(t, "no times", b.AddSchedule(t.Context(), jobs.Schedule{ID: "x", Spec: "at noon", Job: jobs.Job{Flow: "f"}}), storage.ErrInvalid)
}

// testScheduleEachOnce: many processes serve a schedule, and each tick posts one job.
func testScheduleEachOnce(t *testing.T, open opener) {
	one, other := open(t, jobs.Policy{})
	must(t, one.AddSchedule(t.Context(), jobs.Schedule{ID: "s", Spec: "@every 1s", Job: jobs.Job{Flow: "f"}, CatchUp: jobs.MaxCatchUp}))
	first := scheduled(t, one, "s").Next
	var mu sync.Mutex
	var posted []string
	var many sync.WaitGroup
	for _, b := range []*jobs.Board{one, other, one, other} {
		many.Go(func() {
			for {
				ids, wait, err := b.Tick(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				posted = append(posted, ids...)
				enough := len(posted) >= 3
				mu.Unlock()
				if enough {
					return
				}
				until(time.Now().Add(wait))
			}
		})
	}
	many.Wait()
	slices.Sort(posted)
	for i, id := range posted { // no tick twice, and none left out
		if want := jobs.TickID("s", first.Add(time.Duration(i)*time.Second)); id != want {
			t.Errorf("%q was posted, want %s", posted, want)
			break
		}
	}
	list, err := one.List(t.Context(), storage.JobQuery{})
	if err != nil || len(list) != len(posted) {
		t.Errorf("%d jobs are there, %d were posted (%v)", len(list), len(posted), err)
	}
}

// testScheduleCatchUp: of the missed ticks, the latest post a job later.
func testScheduleCatchUp(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{})
	for n := range 3 {
		must(t, b.AddSchedule(t.Context(), jobs.Schedule{ID: fmt.Sprint("s", n), Spec: "@every 1s", Job: jobs.Job{Flow: "f"}, CatchUp: n}))
	}
	until(time.Now().Add(3200 * time.Millisecond)) // three ticks, or more
	posted := tick(t, other)
	var want []string
	for n := range 3 {
		last := scheduled(t, b, fmt.Sprint("s", n)).Last
		for back := max(n, 1) - 1; back >= 0; back-- {
			want = append(want, jobs.TickID(fmt.Sprint("s", n), last.Add(-time.Duration(back)*time.Second)))
		}
	}
	slices.Sort(posted)
	if !slices.Equal(posted, want) {
		t.Errorf("posted %q, want %q", posted, want)
	}
}

// testSchedulePause: ticks during a pause do not post a job later.
func testSchedulePause(t *testing.T, open opener) {
	b, other := open(t, jobs.Policy{})
	must(t, b.AddSchedule(t.Context(), jobs.Schedule{ID: "s", Spec: "@every 1s", Job: jobs.Job{Flow: "f"}, CatchUp: 9}))
	must(t, other.PauseSchedule(t.Context(), "s", true))
	before := tick(t, b)
	must(t, b.AddSchedule(t.Context(), jobs.Schedule{ID: "s", Spec: "@every 1s", Job: jobs.Job{Flow: "f"}, CatchUp: 9}))
	until(time.Now().Add(1100 * time.Millisecond))
	if posted := tick(t, b); len(posted)+len(before) > 0 || !scheduled(t, b, "s").Paused {
		t.Errorf("paused, it posts %q and %q", before, posted)
	}
	must(t, b.PauseSchedule(t.Context(), "s", true)) // again
	at := time.Now()
	must(t, b.PauseSchedule(t.Context(), "s", false))
	var posted []string
	for len(posted) == 0 {
		posted = tick(t, other)
		until(time.Now().Add(short))
	}
	_, text, _ := strings.Cut(posted[0], "@")
	if first, err := time.Parse(time.RFC3339, text); err != nil || first.Before(at.Add(-time.Second)) {
		t.Errorf("going on at %v, it posts %q first (%v)", at, posted[0], errors.Join(err))
	}
}
