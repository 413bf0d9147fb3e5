package conductor_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestLongestDrain: the longest drain lets an atom end.
func TestLongestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		root := flow.Linear("trip", atom.Func("drive", func(ctx context.Context, _ struct{}) (int, error) {
			select {
			case <-time.After(time.Hour):
				return 1, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}))
		post(t, store, jobs.Job{ID: "trip", Flow: "trip", Run: "trip"})
		serve(t, store, conductor.NewCatalog().Add(1, root), time.Second, engine.WithDrain(math.MaxInt64))
		wantRun(t, store, "trip", states.FlowSuccess)
	})
}
