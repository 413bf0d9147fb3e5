package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// picked counts items by the version of the flow that picked them.
type picked struct {
	mu    sync.Mutex
	items map[string]int
}

func (p *picked) add(version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.items == nil {
		p.items = map[string]int{}
	}
	p.items[version]++
}

// picking is a flow that picks each item of an order, with a wait in the middle, and then packs the order in a run of
// its own.
func picking(version string, done *picked) flow.Node {
	pick := flow.Linear("pick",
		atom.Func("find", func(_ context.Context, _ struct {
			Item int `json:"item"`
		},
		) (struct{}, error) {
			done.add(version)
			return struct{}{}, nil
		}),
		atom.Func("fetch "+version, func(ctx context.Context, _ struct{}) (struct{}, error) {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
			}
			return struct{}{}, context.Cause(ctx)
		}))
	pack := flow.Linear("pack", atom.Func("pack "+version, func(context.Context, struct{}) (struct{}, error) {
		return struct{}{}, nil
	}))
	return flow.Linear("order", flow.Each("picks", atom.NewKey[[]int]("items"), pick),
		flow.Run[struct{}, struct{}]("ship", pack))
}

// TestChildrenOfFlows: a conductor drives all runs that atoms of its flows start, and another one resumes them.
// Children of a run that started on an earlier version have the flow of that version.
//
// Guarantee (Jobs): A conductor drives the runs that its flows' atoms begin, on the version of the first ancestor, and
// another resumes them.
func TestChildrenOfFlows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, done := memstore.New(), &picked{}
		for id, items := range map[string][]int{"none": {}, "three": {1, 2, 3}} {
			post(t, store, jobs.Job{ID: id, Flow: "order", Input: map[string]any{"items": items}})
		}
		one := conductor.NewCatalog().Add(1, picking("one", done))
		serve(t, store, one, 30*time.Second, engine.WithDrain(0)) // dies in the middle of each item
		wantRun(t, store, "none", states.FlowSuccess)
		both := conductor.NewCatalog().Add(1, picking("one", done)).Add(2, picking("two", done))
		serve(t, store, both, time.Hour)
		wantRun(t, store, "three", states.FlowSuccess)
		wantJob(t, store, "three", states.JobComplete, "")
		if one, two := done.items["one"], done.items["two"]; one != 3 || two != 0 {
			t.Errorf("version one picked %d items, version two %d", one, two)
		}
		wantRun(t, store, "three/picks", states.FlowSuccess)
		wantRun(t, store, "three/ship", states.FlowSuccess)
	})
}

// TestCompletedChildren: a catalog completes the records of runs that atoms start, or refuses them.
func TestCompletedChildren(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		for id, items := range map[string][]int{"known": {}, "unknown": {}, "broken": {}} {
			post(t, store, jobs.Job{ID: id, Flow: "order", Input: map[string]any{"items": items}})
		}
		broken := 1
		serve(t, store, conductor.NewCatalog().Add(1, picking("one", &picked{})).
			Complete(func(_ context.Context, run *storage.Run) error {
				switch {
				case run.ID == "broken/ship" && broken > 0:
					broken--
					return errors.New("no answer")
				case run.ID == "unknown/ship":
					return fmt.Errorf("%w: a flow for %s", storage.ErrNotFound, run.ID)
				}
				run.Labels = map[string]string{"of": run.Flow}
				return nil
			}), time.Hour)
		for id, want := range map[string]states.Flow{"known": states.FlowSuccess, "unknown": states.FlowFailure, "broken": states.FlowSuccess} {
			wantRun(t, store, id, want)
		}
		if run, err := store.Run(t.Context(), "known/ship"); err != nil || run.Labels["of"] != "pack" {
			t.Errorf("labels %v, %v", run.Labels, err)
		}
		if run, err := store.Run(t.Context(), "unknown"); err != nil || run.Failure.Code != atom.CodeNoFlow {
			t.Errorf("%v, %v", run.Failure, err)
		}
	})
}
