package sqlstore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// BenchmarkLargeResults reads results that are payloads, one at a time, from 4,000 of 40 runs. "write" is the time to
// write one of them, in checkpoints of a hundred.
func BenchmarkLargeResults(b *testing.B) {
	const runs, atoms = 40, 100
	for _, size := range []int{400, 64_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := openBench(b)
			ctx := b.Context()
			began := time.Now()
			for run := range runs {
				id := fmt.Sprint("run-", run)
				of, err := stepperOf(ctx, s, id)
				if err != nil {
					b.Fatal(err)
				}
				cp := backend.Checkpoint{Head: backend.Head{State: states.FlowRunning, Refs: atoms, Time: began}}
				for i := range atoms {
					data := make(atom.Value, size)
					data[0] = atom.CodecJSON
					cp.Payloads = append(cp.Payloads, backend.Payload{Ref: int64(i + 1), Data: data})
					cp.Atoms = append(cp.Atoms, storage.Atom{
						Path: fmt.Sprintf("task-%03d", i), Live: true, State: states.TaskSuccess, Attempt: 1,
						Result: storage.Held{Ref: int64(i + 1), Data: data}, StartedAt: began, EndedAt: began,
					})
				}
				if err := s.Commit(ctx, of.claim, &cp); err != nil {
					b.Fatal(err)
				}
			}
			written := time.Since(began)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				run, path := fmt.Sprint("run-", rand.IntN(runs)), fmt.Sprintf("task-%03d", rand.IntN(atoms))
				found, err := s.AtomsAt(ctx, run, path)
				if err != nil || len(found) != 1 || len(found[0].Result.Data) != size {
					b.Fatal(len(found), err)
				}
			}
			b.ReportMetric(float64(written.Microseconds())/(runs*atoms), "write-µs")
		})
	}
}
