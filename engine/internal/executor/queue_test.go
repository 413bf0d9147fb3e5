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
	nodes := make([]scheduler.Node, calls)
	for i := range nodes {
		x.Queue(&Call{Atom: -1, Node: &nodes[i]})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range calls / 3 {
		if x.Next().Node != &nodes[i] {
			t.Fatal("the queue has changed its order")
		}
		x.Take()
		x.Cancel(&nodes[calls-1-i], -1, true)
		x.Cancel(&nodes[calls/3+i], -1, false)
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
