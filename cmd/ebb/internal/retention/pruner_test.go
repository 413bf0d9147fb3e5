package retention

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPruner: a run that is kept for two hours is deleted within an hour after that, with its job, and others stay. A
// store that fails once is pruned the next time.
func TestPruner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &sulkingStore{Store: memstore.New(), sulks: true}
		eng, err := engine.New(flow.Linear("trip", atom.Func("go", func(context.Context, struct{}) (int, error) { return 1, nil })), store)
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
		if err := store.EndJob(t.Context(), backend.JobEnd{Job: "ended", State: states.JobComplete}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		run("young")

		policy, err := Parse([]string{"2h"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		tidied := 0
		p := &Pruner{store, policy, func(context.Context) (int64, error) { tidied++; return 0, nil }, hclog.NewNullLogger()}
		go func() {
			defer close(ended)
			p.Run(ctx)
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
		if err != nil || len(jobs) != 0 || tidied != 3 {
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

// A pagedStore counts the runs of the largest page. Another process purges the last run of each page.
type pagedStore struct {
	backend.Store

	most int
}

func (s *pagedStore) Runs(ctx context.Context, q storage.RunQuery) ([]storage.Run, error) {
	runs, err := s.Store.Runs(ctx, q)
	if s.most = max(s.most, len(runs)); len(runs) > 0 {
		_, err = s.Purge(ctx, runs[len(runs)-1].ID)
	}
	return runs, err
}

// TestPrunePages: runs are deleted while they are listed in pages, also beside another process that deletes them. A run
// goes only if the run that began it goes, too.
func TestPrunePages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const pages = 3
		store := &pagedStore{Store: memstore.New()}
		eng, err := engine.New(flow.Linear("trip", atom.Func("go", func(context.Context, struct{}) (int, error) { return 1, nil })), store)
		if err != nil {
			t.Fatal(err)
		}
		run := func(id, parent string) {
			t.Helper()
			if err := store.Create(t.Context(), storage.Run{ID: id, Flow: "trip", Parent: parent}); err != nil {
				t.Fatal(err)
			}
			if _, err := eng.Run(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Create(t.Context(), storage.Run{ID: "open", Flow: "trip"}); err != nil {
			t.Fatal(err)
		}
		run("first", "")
		run("needed", "open")
		for i := range (pages - 1) * storage.PageRuns {
			run(fmt.Sprint("old", i), map[bool]string{true: fmt.Sprint("old", i-1)}[i%2 == 1])
		}
		time.Sleep(2 * time.Hour)
		run("young", "")
		policy, err := Parse([]string{"1h"})
		if err != nil {
			t.Fatal(err)
		}
		p := &Pruner{Store: store, Policy: policy, Tidy: func(context.Context) (int64, error) { return 0, nil }}
		done, err := p.Prune(t.Context())
		if want := (pages-1)*storage.PageRuns - (pages - 1); err != nil || done.Runs != want {
			t.Errorf("%d runs were deleted, want %d (%v)", done.Runs, want, err)
		}
		left, err := store.Store.Runs(t.Context(), storage.RunQuery{})
		if err != nil || len(left) != 3 || left[0].ID != "young" || left[1].ID != "needed" {
			t.Errorf("%d runs are left (%v)", len(left), err)
		}
		if store.most > storage.PageRuns {
			t.Errorf("a page of %d runs", store.most)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}
