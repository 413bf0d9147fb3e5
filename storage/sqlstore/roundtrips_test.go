package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
)

// TestServerRoundTrips: what workers and servers read most often takes one round trip, and so does loading ten runs with
// their tokens, timers and messages, beside four that do not depend on how many they are. Posting many jobs takes a few:
// the server may answer the first of them before the last was sent.
func TestServerRoundTrips(t *testing.T) {
	t.Parallel()
	proxy, dsn := postgrestest.NewProxy(t, migratedTo(t))
	s, err := openStore(t.Context(), dsn+"&lease=10m") // no renewal of the lease comes between
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	s.leaseRenewer.evicting.Lock()
	s.leaseRenewer.looked = time.Now().Add(time.Hour) // nor a look for dead processes, which Due makes once a second
	s.leaseRenewer.evicting.Unlock()
	const runs = 10
	past := time.Now().Add(-time.Minute)
	for i := range runs {
		id := fmt.Sprint(i)
		claim := beginRun(t, s, id)
		cp := nth(0)
		cp.Atoms = []storage.Atom{{Path: "a", Live: true}}
		cp.Tokens = []storage.Token{{ID: id, Path: "a", State: storage.TokenOpen, Queue: "q"}}
		cp.Timers = []storage.TimerRow{{Run: id, Path: "a", Due: past}}
		cp.Head.Release, cp.Head.Due = true, past
		if err := s.Commit(t.Context(), claim, cp); err != nil {
			t.Fatal(err)
		}
		if err := s.Send(t.Context(), storage.Message{Run: id, Kind: "signal", Name: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	posted := 0
	for what, c := range map[string]struct {
		most int
		do   func(context.Context) error
	}{
		"a token": {1, func(ctx context.Context) error { _, err := s.Token(ctx, "1"); return err }},
		"an atom that has just begun": {1, func(ctx context.Context) error {
			_, err := s.Atom(ctx, "1", "a")
			return err
		}},
		"the work in a queue": {1, func(ctx context.Context) error {
			ids, err := s.QueuedTokens(ctx, []string{"q"}, 2*runs)
			if len(ids) != runs {
				t.Errorf("%d tokens are queued", len(ids))
			}
			return err
		}},
		"a look into an empty queue": {1, func(ctx context.Context) error {
			_, err := s.TakeToken(ctx, storage.WorkRequest{Worker: "w", Queues: []string{"empty"}})
			if errors.Is(err, storage.ErrNotFound) {
				return nil
			}
			return fmt.Errorf("it has work: %w", err)
		}},
		"posting 100 jobs": {10, func(ctx context.Context) error {
			list := make([]storage.Job, 100)
			for i := range list {
				posted++
				list[i] = storage.Job{ID: fmt.Sprint(posted), Flow: "f"}
			}
			return s.PostJob(ctx, list...)
		}},
		"a heartbeat": {2, func(ctx context.Context) error { _, err := s.Beat(ctx, "1"); return err }},
		"the runs that are due": {5, func(ctx context.Context) error {
			due, _, err := s.Due(ctx, backend.DueQuery{By: time.Now(), Limit: 2 * runs})
			for i := range due {
				if snap := due[i].Snapshot; snap == nil || len(snap.Tokens) != 1 || len(snap.Timers) != 1 ||
					len(snap.Messages) != 1 || len(snap.Atoms) != 1 {
					t.Errorf("%+v is loaded", due[i])
				}
			}
			if len(due) != runs {
				t.Errorf("%d runs are due", len(due))
			}
			return err
		}},
	} {
		least := 1 << 30
		for range 5 { // the first prepares the statements
			before := proxy.RoundTrips()
			if err := c.do(t.Context()); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			least = min(least, proxy.RoundTrips()-before)
		}
		if least < 1 || least > c.most {
			t.Errorf("%s takes %d round trips; want %d", what, least, c.most)
		}
	}
}
