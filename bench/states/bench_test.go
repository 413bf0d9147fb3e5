package states

import (
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/memstore"
)

// BenchmarkStates runs the workloads by themselves.
func BenchmarkStates(b *testing.B) {
	for _, w := range workloads(b) {
		benchmarkWorkload(b, w, w.Name)
		benchmarkWorkload(b, w, w.Name+", without history", engine.WithCheckpoints(engine.NoHistory))
	}
}

func benchmarkWorkload(b *testing.B, w *workload, name string, opts ...engine.Option) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		m, err := asl.Parse(w.Name, atom.MustEncode(w.Definition).JSON())
		if err != nil {
			b.Fatal(err)
		}
		input := atom.MustEncode(w.Input)
		b.ReportAllocs()
		for b.Loop() {
			eng, err := engine.New(m.Flow(), memstore.New(), opts...)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := eng.Run(b.Context(), "run", engine.Input(input)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.Transitions), "ns/transition")
	})
}
