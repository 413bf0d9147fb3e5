package memorybudget

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGarbagePercent(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		live, allowed int64
		want          int
	}{
		{0, 32 * mib, 1600},
		{2 * mib, 32 * mib, 1600},
		{3 * mib, 32 * mib, 800},
		{8 * mib, 32 * mib, 400},
		{16 * mib, 32 * mib, 200},
		{17 * mib, 32 * mib, 100},
		{noLimit / 2000, 32 * mib, 100},
		{3 * mib, mib, 100},
	} {
		if got := garbagePercent(c.live, c.allowed); got != c.want {
			t.Errorf("garbagePercent(%d, %d) = %d; want %d", c.live, c.allowed, got, c.want)
		}
	}
}

// TestAllowGarbage: the percentage follows the live memory, up and down.
func TestAllowGarbage(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	AllowGarbage(0)
	until := func(is func(percent int64) bool) {
		for !is(metric("/gc/gogc:percent")) {
			runtime.GC()
		}
	}
	until(func(percent int64) bool { return percent >= 400 })
	held := make([]byte, 2*allowedGarbage)
	until(func(percent int64) bool { return percent == leastPercent })
	runtime.KeepAlive(held)
	until(func(percent int64) bool { return percent >= 400 })
}
