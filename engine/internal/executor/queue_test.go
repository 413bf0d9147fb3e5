package executor

import (
	"runtime"
	"testing"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// TestCancelWaitingCalls cancels and abandons very many calls that wait for a place, while others start. The
// allocations are proportional to their number.
func TestCancelWaitingCalls(t *testing.T) { // not parallel: it counts the process's allocations
	const calls = 6000
	x := &Executor{Settings: &Settings{}}
	units := make([]scheduler.Unit, calls)
	for i := range units {
		x.Queue(&Call{Unit: &units[i]})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range calls / 3 {
		if x.Next().Unit != &units[i] {
			t.Fatal("the queue has changed its order")
		}
		x.Take()
		x.Cancel(&units[calls-1-i], true)
		x.Cancel(&units[calls/3+i], false)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / calls; each > 1000 {
		t.Errorf("a call costs %d bytes", each)
	}
	for range calls / 3 {
		if c := x.Next(); c.Missing == nil {
			t.Fatal("a call that was cancelled is to be made, or one that was abandoned")
		}
		x.Take()
	}
	if x.Queued() != 0 {
		t.Errorf("%d calls are left", x.Queued())
	}
}
