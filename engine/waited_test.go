package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestWaitedForASlot: what waits for a free slot is not a part of how long an atom takes. Observers and the views of the
// history say the same of both, also of reverts.
func TestWaitedForASlot(t *testing.T) {
	for _, slots := range []int{1, 2, 10} {
		synctest.Test(t, func(t *testing.T) {
			var tasks []flow.Node
			for i := range 4 {
				tasks = append(tasks, atom.Pair(fmt.Sprint("t", i), func(context.Context, struct{}) (struct{}, error) {
					time.Sleep(time.Second)
					return struct{}{}, nil
				}, func(context.Context, struct{}, atom.Outcome[struct{}]) error {
					time.Sleep(2 * time.Second)
					return nil
				}))
			}
			fails := atom.Func("fails", func(context.Context, struct{}) (struct{}, error) {
				return struct{}{}, atom.Errorf("No", "no")
			})
			seen := map[string][2]time.Duration{}
			e := newEngine(t, flow.Linear("f", flow.Unordered("all", tasks...), fails), engine.WithStore(memstore.New()),
				engine.WithParallelism(slots), engine.WithObserver(func(ev engine.Event) {
					if ev.Kind == engine.AtomChanged && (ev.To == "SUCCESS" || ev.To == "REVERTED") {
						seen[ev.To+" "+ev.Path] = [2]time.Duration{ev.Duration, ev.Waited}
					}
				}))
			if _, err := e.Run(t.Context(), "r"); err == nil {
				t.Fatal("it succeeded")
			}
			run, err := e.Store().Run(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			tree, err := inspect.Recorded(t.Context(), e.Store(), &run, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(tree.Undone) != 4 {
				t.Fatalf("%d undone", len(tree.Undone))
			}
			var most time.Duration
			for _, s := range tree.Undone {
				is, undo := seen["SUCCESS "+s.Path], seen["REVERTED "+s.Path]
				if is[0] != time.Second || s.Waited != is[1] || s.Ended.Sub(s.Began)-s.Waited != is[0] {
					t.Errorf("%d slots: %s took %v and waited %v; shown %v in all, waited %v", slots, s.Path, is[0], is[1],
						s.Ended.Sub(s.Began), s.Waited)
				}
				if undo[0] != 2*time.Second || s.UndoWait != undo[1] || s.Undone.Sub(s.Undoing)-s.UndoWait != undo[0] {
					t.Errorf("%d slots: the undo of %s took %v and waited %v; shown %v in all, waited %v", slots, s.Path, undo[0],
						undo[1], s.Undone.Sub(s.Undoing), s.UndoWait)
				}
				most = max(most, is[1])
			}
			if want := map[int]time.Duration{1: 3 * time.Second, 2: time.Second, 10: 0}[slots]; most != want {
				t.Errorf("%d slots: an atom waited %v; want %v", slots, most, want)
			}
		})
	}
}
