//go:build unix

package sqlstore_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkCommitBeside commits beside three other processes that do nothing
// else, and reports how long it waits.
func BenchmarkCommitBeside(b *testing.B) {
	file := filepath.Join(b.TempDir(), "bench.db")
	s := open(b, file)
	for range 3 {
		start(b, "busy", file, "").Line()
	}
	steps := newStepper(b, s, "a")
	var waits []time.Duration
	for b.Loop() {
		begun := time.Now()
		if err := steps.step(); err != nil {
			b.Fatal(err)
		}
		waits = append(waits, time.Since(begun))
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(waits[len(waits)-1].Microseconds()), "max-µs")
	if err := s.Close(); err != nil {
		b.Error(err)
	}
}
