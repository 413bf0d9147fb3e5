package memorybudget

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// A process with little live memory may have this much garbage before the runtime collects it.
//
//limit:memory garbage of `ebb` before a collection (`GOGC`) | the larger of what is live and {B}, or an eighth
//limit:and of the budget | collection
const allowedGarbage = 64 << 20

// Limits of the percentage of garbage that the runtime allows beside live memory, see [debug.SetGCPercent].
const (
	leastPercent = 100 // the runtime's default
	mostPercent  = 1600
)

// AllowGarbage lets the runtime collect garbage less often while little memory is live. By default the runtime collects
// when there is as much garbage as live memory. A server of a few MiB would collect dozens of times a second, which
// took a seventh of its processor time. The garbage stays below 64 MiB or an eighth of the budget (0: none); beyond
// that, the default holds.
//
// After each collection the percentage is set anew, for as long as the process lives. Only the first call counts.
func AllowGarbage(budget int64) {
	allowing.Do(func() {
		allowed := int64(allowedGarbage)
		if budget > 0 {
			allowed = min(allowed, budget/8)
		}
		afterEachCollection(func() {
			percent := garbagePercent(metric("/gc/heap/live:bytes"), allowed)
			if int64(percent) != metric("/gc/gogc:percent") {
				debug.SetGCPercent(percent)
			}
		})
	})
}

// allowing is one for the process, as the runtime's setting is.
var allowing sync.Once

// garbagePercent returns the percentage of live memory that may be garbage, so that the garbage stays below a number of
// bytes. The result is the default or two, four, eight or sixteen times it, because a change of the setting stops all
// goroutines for a moment.
func garbagePercent(live, allowed int64) int {
	percent := leastPercent
	for percent < mostPercent && live*int64(percent)*2/100 <= allowed {
		percent *= 2
	}
	return percent
}

// afterEachCollection calls f now and after each collection of garbage.
func afterEachCollection(f func()) {
	f()
	sentinel := new([32]byte) // unreachable, so the next collection finds it
	runtime.AddCleanup(sentinel, afterEachCollection, f)
}

// metric returns a number of the runtime's metrics, or 0 if this version of Go does not have it.
func metric(name string) int64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if v := sample[0].Value; v.Kind() == metrics.KindUint64 {
		return int64(min(v.Uint64(), noLimit))
	}
	return 0
}
