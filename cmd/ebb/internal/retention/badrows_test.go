package retention

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A damagedStore cannot read one run, or cannot delete it.
type damagedStore struct {
	backend.Store

	unread, undeleted string
}

func (d *damagedStore) Run(ctx context.Context, id string) (storage.Run, error) {
	if id == d.unread {
		return storage.Run{}, fmt.Errorf("%w: run %s", storage.ErrCorrupt, id)
	}
	return d.Store.Run(ctx, id)
}

func (d *damagedStore) Purge(ctx context.Context, ids ...string) (int, error) {
	if slices.Contains(ids, d.undeleted) {
		return 0, fmt.Errorf("%w: run %s", storage.ErrCorrupt, d.undeleted)
	}
	return d.Store.Purge(ctx, ids...)
}

// TestBadRows: runs that cannot be read or deleted do not keep other runs and jobs from being pruned.
func TestBadRows(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]*damagedStore{"read": {unread: "parent"}, "delete": {undeleted: "run 199"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store.Store = memstore.New()
			defer func() { _ = store.Close() }()
			for i := range 200 {
				run := storage.Run{ID: fmt.Sprint("run ", i), Flow: "f", Structure: "x", Created: time.Now().Add(-2 * time.Hour)}
				if i > 190 { // the newest
					run.Parent = "parent"
				}
				end(t, store, run)
			}
			if err := store.PostJob(t.Context(), storage.Job{ID: "ended", Flow: "f", State: states.JobParked}); err != nil {
				t.Fatal(err)
			}
			if err := store.EndJob(t.Context(), backend.JobEnd{Job: "ended", State: states.JobComplete}); err != nil {
				t.Fatal(err)
			}
			p := &Pruner{store, Policy{{age: 0}}, func(context.Context) (int64, error) { return 0, nil }, hclog.NewNullLogger()}
			done, err := p.Prune(t.Context())
			if err == nil || done.Runs < 200-purgeBatch || done.Jobs != 1 {
				t.Errorf("pruned %+v (%v)", done, err)
			}
		})
	}
}

// end creates a run that has ended.
func end(t *testing.T, store backend.Store, run storage.Run) {
	t.Helper()
	err := store.Create(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	claim, snap, err := store.Begin(t.Context(), run.ID)
	if err == nil {
		err = store.Commit(t.Context(), claim, &backend.Checkpoint{Head: backend.Head{
			Seq: snap.Run.Seq, State: states.FlowSuccess, Outcome: storage.Succeeded, Time: time.Now(), Release: true,
		}})
	}
	if err != nil {
		t.Fatal(err)
	}
}
