package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPruner: what is kept for two hours goes within an hour after that, with its job,
// while others stay; and a store that fails once is pruned the next time.
func TestPruner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &sulkingStore{Store: memstore.New(), sulks: true}
		eng, err := engine.New(flow.Linear("trip", atom.Func("go", func(context.Context, struct{}) (int, error) { return 1, nil })), engine.WithStore(store))
		if err != nil {
			t.Fatal(err)
		}
		run := func(id string) {
			t.Helper()
			if _, err := eng.Run(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		wants := func(want string) {
			t.Helper()
			runs, err := store.Runs(t.Context(), storage.RunQuery{})
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for i := range runs {
				ids = append(ids, runs[i].ID)
			}
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("after %v there is %q, want %q", time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), got, want)
			}
		}
		run("old")
		if err := store.PostJob(t.Context(), storage.Job{ID: "ended", Flow: "trip", State: states.JobParked}); err != nil {
			t.Fatal(err)
		}
		if err := store.EndJob(t.Context(), storage.JobEnd{Job: "ended", State: states.JobComplete}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		run("young")

		policy, err := parseRetention([]string{"2h"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		tidied := 0
		p := &pruner{store, policy, func(context.Context) (int64, error) { tidied++; return 0, nil }, hclog.NewNullLogger()}
		go func() {
			defer close(ended)
			p.run(ctx)
		}()
		time.Sleep(pruneEvery) // it has looked once, in vain
		wants("young old")
		time.Sleep(pruneEvery)
		wants("young")
		time.Sleep(pruneEvery)
		wants("")
		stop()
		<-ended
		jobs, err := store.JobList(t.Context(), storage.JobQuery{})
		if err != nil || len(jobs) != 0 || tidied != 2 {
			t.Errorf("%d jobs are left (%v); tidied %d times", len(jobs), err, tidied)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A sulkingStore does not delete the first time.
type sulkingStore struct {
	*memstore.Store

	sulks bool
}

func (s *sulkingStore) Purge(ctx context.Context, runs ...string) (int, error) {
	if s.sulks {
		s.sulks = false
		return 0, storage.ErrClosed
	}
	return s.Store.Purge(ctx, runs...)
}
