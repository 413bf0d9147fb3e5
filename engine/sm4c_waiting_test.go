package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

const waitingMachine = `{"name": "waits", "version": "1", "events": [{"name": "go", "type": "go"}], "states": [
 {"name": "Wait", "start": true, "transitions": [{"nextState": "Done", "eventGroups": [{"events": ["go"], "resultHandler": "${ .got = $value.data }"}]},
   {"nextState": "Late", "timeout": "P30D"}]},
 {"name": "Done"}, {"name": "Late"}]}`

// TestManyWait lets EBB_SCALE runs, in CI 2,000, wait for an event each, on disk. It sends the events, and all
// runs end. The memory during the waits does not grow with the number of runs.
//
// Guarantee (Waiting and time): 1,000 more waiting runs add less than 4 MiB of live heap. `EBB_SCALE` sets their
// number.
func TestManyWait(t *testing.T) {
	n := scale(t, 2000)
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := sm4c.Parse("waits", []byte(waitingMachine))
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(m.Flow(), store)
	if err != nil {
		t.Fatal(err)
	}
	id := func(i int) string { return fmt.Sprintf("r%06d", i) }
	begin := func(from, to int) {
		inParallel(from, to, func(i int) {
			_, err := eng.Run(t.Context(), id(i), engine.Input(atom.FromJSON([]byte("{}"))), engine.Unload())
			if !errors.Is(err, engine.ErrWaiting) {
				t.Errorf("%s: %v; want it to wait", id(i), err)
			}
		})
	}
	began := time.Now()
	begin(0, n/2)
	half := liveHeap()
	begin(n/2, n)
	all := liveHeap()
	t.Logf("%d runs wait after %v; the live heap is %d KiB with half of them and %d KiB with all", n, time.Since(began).Round(time.Second), half>>10, all>>10)
	if grown := all - half; grown > 4<<20 {
		t.Errorf("the live heap has grown by %d KiB with %d runs that wait", grown>>10, n/2)
	}
	began = time.Now()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := eng.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	inParallel(0, n, func(i int) {
		event := fmt.Appendf(nil, `{"specversion": "1.0", "id": "%d", "source": "test", "type": "go", "data": %d}`, i, i)
		if err := store.Send(t.Context(), storage.Message{Run: id(i), Kind: grow.MessageEvent, Body: atom.FromJSON(event)}); err != nil {
			t.Error(err)
		}
	})
	for left := n; left > 0; {
		runs, err := store.Runs(t.Context(), storage.RunQuery{States: []states.Flow{states.FlowPending, states.FlowRunning}, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if left = len(runs); left > 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
	stop()
	serving.Wait()
	t.Logf("all have ended after %v", time.Since(began).Round(time.Second))
	for _, i := range []int{0, n / 2, n - 1} {
		run, err := store.Run(t.Context(), id(i))
		if want := fmt.Sprintf(`{"got":%d}`, i); err != nil || run.Output.Data.String() != want {
			t.Errorf("%s ended with %s, %v; want %s", id(i), run.Output.Data, err, want)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// inParallel calls do for each number, 32 at a time.
func inParallel(from, to int, do func(int)) {
	var workers sync.WaitGroup
	numbers := make(chan int)
	for range 32 {
		workers.Go(func() {
			for i := range numbers {
				do(i)
			}
		})
	}
	for i := from; i < to; i++ {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
}
