package conductor_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestSchedules: conductors that serve together create one run for each tick, also if all their slots are taken. Of the
// ticks that were missed while none served, they make up for the latest.
func TestSchedules(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		var mu sync.Mutex
		calls := 0
		catalog := func() *conductor.Catalog {
			return conductor.NewCatalog().Add(1, trip("trip", func(_ context.Context, n int) error {
				mu.Lock()
				calls++
				mu.Unlock()
				time.Sleep(time.Duration(n) * time.Second)
				return nil
			}))
		}
		board := jobs.New(store, jobs.Policy{})
		err := errors.Join(
			board.AddSchedule(t.Context(), jobs.Schedule{ID: "often", Spec: "*/5 * * * *", Job: jobs.Job{Flow: "trip", Input: order{N: 1}}}),
			board.AddSchedule(t.Context(), jobs.Schedule{ID: "daily", Spec: "TZ=Europe/Rome 30 4 * * *", Job: jobs.Job{
				Flow: "trip", Input: order{N: 1}, RunLabels: map[string]string{"team": "x"},
			}}),
		)
		if err != nil {
			t.Fatal(err)
		}
		// These jobs take the whole time of both slots.
		post(t, store, jobs.Job{Flow: "trip", Input: order{N: 3000}, Priority: 9}, jobs.Job{Flow: "trip", Input: order{N: 3000}, Priority: 9})
		var many sync.WaitGroup
		for range 2 {
			other := store.Join()
			many.Go(func() { serve(t, other, catalog(), 24*time.Hour+time.Minute, engine.WithSlots(1)) })
		}
		many.Wait()
		const often, once, before = 24 * 12, 1, 2
		list, err := store.JobList(t.Context(), storage.JobQuery{States: []states.Job{states.JobComplete}})
		if err != nil || len(list) != often+once+before || calls != len(list) {
			t.Errorf("%d jobs are done with %d calls, want %d (%v)", len(list), calls, often+once+before, err)
		}
		id := "daily@2000-01-01T03:30:00Z"
		wantRun(t, store, id, states.FlowSuccess)
		if run, err := store.Run(t.Context(), id); err != nil || run.Labels["team"] != "x" {
			t.Errorf("its run is %+v (%v)", run, err)
		}

		time.Sleep(10 * time.Hour)
		serve(t, store, catalog(), time.Minute, engine.WithSlots(5))
		if list, err = store.JobList(t.Context(), storage.JobQuery{}); err != nil || len(list) != often+once+before+2 {
			t.Errorf("%d jobs are there, want two more (%v)", len(list), err)
		}
		wantJob(t, store, "often@2000-01-02T10:00:00Z", states.JobComplete, "")
		wantJob(t, store, "daily@2000-01-02T03:30:00Z", states.JobComplete, "")
	})
}
