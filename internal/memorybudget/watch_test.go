package memorybudget

import (
	"runtime"
	"testing"
	"time"
)

// TestWatch: the budget is reached at once, and no longer reached a tenth below it. Garbage is collected rarely, and
// only while the budget is reached and no other collection happens.
func TestWatch(t *testing.T) {
	t.Parallel()
	w := Watch{Budget: 1000}
	at := time.Unix(1_000_000, 0)
	for i, step := range []struct {
		after                       time.Duration
		use                         Use
		exhausted, changed, collect bool
	}{
		{0, Use{999, 5}, false, false, false},
		{time.Hour, Use{999, 5}, false, false, false},
		{time.Hour, Use{1000, 6}, true, true, false},
		{time.Second, Use{950, 7}, true, false, false},
		{9 * time.Second, Use{950, 7}, true, false, false},
		{time.Second, Use{950, 7}, true, false, true},
		{time.Second, Use{950, 7}, true, false, false},
		{time.Second, Use{950, 8}, true, false, false},
		{9 * time.Second, Use{950, 8}, true, false, false},
		{time.Second, Use{950, 8}, true, false, true},
		{time.Second, Use{900, 9}, true, false, false},
		{time.Second, Use{899, 10}, false, true, false},
		{time.Second, Use{999, 11}, false, false, false},
	} {
		at = at.Add(step.after)
		exhausted, changed := w.Look(at, step.use)
		collect := w.Stale(at)
		if exhausted != step.exhausted || changed != step.changed || collect != step.collect {
			t.Errorf("step %d: exhausted %t, changed %t, collect %t; want %+v", i, exhausted, changed, collect, step)
		}
	}
	if none, _ := new(Watch).Look(at, Use{Live: 1 << 50}); none {
		t.Error("no budget is reached")
	}
}

// TestUsed: live memory counts, and garbage does not once it was collected.
func TestUsed(t *testing.T) { //nolint:paralleltest // it measures the process
	const size = 64 << 20
	runtime.GC()
	before := Used()
	kept := make([]byte, size)
	runtime.GC()
	during := Used()
	runtime.KeepAlive(kept)
	runtime.GC()
	after := Used()
	if grown := during.Live - before.Live; grown < size*9/10 || grown > size*11/10 {
		t.Errorf("%d bytes more are in use, of %d that were made", grown, size)
	}
	if left := after.Live - before.Live; left > size/10 {
		t.Errorf("%d bytes are in use still", left)
	}
	if after.Collections < before.Collections+2 || before.Live <= 0 {
		t.Errorf("first %+v, then %+v", before, after)
	}
}

// TestShare: the budget is below the ceiling of the runtime, and the ceiling below the limit.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{0, 1, 64 * mib, 3 * gib, noLimit - 1} {
		budget := Share(limit)
		if ceiling := Ceiling(budget); budget < 0 || budget > ceiling || ceiling > limit {
			t.Errorf("of %d, %d are live and %d taken at most", limit, budget, ceiling)
		}
	}
}
