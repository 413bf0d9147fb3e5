package metrics

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestMetricsOfStolen counts claims that belong to another process when they are used.
func TestMetricsOfStolen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ebb.db")
	var stores [2]*sqlstore.Store
	for i := range stores {
		var err error
		if stores[i], err = sqlstore.Open(context.Background(), file); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := stores[i].Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	m := New(stores[0])
	s := backend.Of(m.Store())
	if err := s.Create(t.Context(), storage.Run{ID: "a", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	stale := backend.Claim{Run: "a", Fence: 7, ID: "stale"}
	if err := s.Commit(t.Context(), stale, &backend.Checkpoint{}); !errors.Is(err, storage.ErrFenced) {
		t.Fatal(err)
	}
	if err := stores[1].PostJob(t.Context(), storage.Job{ID: "j", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	lost, err := s.ClaimJobs(t.Context(), backend.JobClaim{Lease: -time.Second})
	if err != nil || len(lost) != 1 {
		t.Fatal(lost, err)
	}
	stolen, err := stores[1].ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour})
	if err != nil || len(stolen) != 1 {
		t.Fatal(stolen, err)
	}
	late := backend.JobEnd{Job: "j", Epoch: lost[0].Epoch, ClaimID: lost[0].ClaimID, State: states.JobComplete}
	for range 2 {
		if err := s.EndJob(t.Context(), late); !errors.Is(err, storage.ErrFenced) {
			t.Error(err)
		}
	}
	end := backend.JobEnd{Job: "j", Epoch: stolen[0].Epoch, ClaimID: stolen[0].ClaimID, State: states.JobComplete}
	if err := stores[1].EndJob(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	begins, _, err := backend.ClaimNew(storage.Run{ID: "j", Flow: "f", Job: "j"})
	if err != nil {
		t.Fatal(err)
	}
	begun, _, err := stores[1].Begin(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	later := backend.Claim{Run: "a", Fence: begun.Fence, ID: "too late", Begins: 1} // as by Due
	for _, claim := range []backend.Claim{begins, later} {
		if err := s.Commit(t.Context(), claim, &backend.Checkpoint{}); !errors.Is(err, storage.ErrFenced) {
			t.Error(err)
		}
	}
	got := scraped(t, m)
	if got[`ebb_fenced_writes_total`] != 1 || got[`ebb_claim_lost_total`] != 3 {
		t.Errorf("counted %v", got)
	}
}

// TestTakeoverIsNoRest: a run that was taken over from a process that died has not come to rest.
func TestTakeoverIsNoRest(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	m := New(store)
	for _, from := range []states.Flow{states.FlowResuming, states.FlowSuspending} {
		m.Observe(engine.Event{Kind: engine.FlowChanged, Flow: "f", From: from.String(), To: states.FlowSuspended.String()})
	}
	if got := scraped(t, m)[`ebb_runs_total{flow="f",state="SUSPENDED"}`]; got != 1 {
		t.Errorf("%v runs came to rest; want the suspended one", got)
	}
}
