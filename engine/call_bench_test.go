package engine_test

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// BenchmarkCall lets 64 callers call 64 runs, or one run, on a file with synchronous=FULL, while a server serves it.
func BenchmarkCall(b *testing.B) {
	for _, runs := range []int{64, 1} {
		b.Run(strconv.Itoa(runs)+" runs", func(b *testing.B) { benchmarkCall(b, runs) })
	}
}

func benchmarkCall(b *testing.B, runs int) {
	b.Helper()
	store, err := sqlstore.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "ebb.db"))
	if err != nil {
		b.Fatal(err)
	}
	root := flow.Growing("counts", counts)
	server, err := engine.NewServer(engine.Flows(root), store)
	if err != nil {
		b.Fatal(err)
	}
	for i := range runs {
		run, err := server.NewRun(root, strconv.Itoa(i))
		if err == nil {
			err = server.Start(b.Context(), run)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(b.Context())
	over := make(chan error)
	go func() { over <- server.Serve(ctx) }()
	const callers = 64
	var caller atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	b.SetParallelism(callers / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		id := strconv.Itoa(int(caller.Add(1)) % runs)
		var mine []time.Duration
		for pb.Next() {
			begun := time.Now()
			if _, err := server.Call(b.Context(), id, "add", atom.Null); err != nil {
				b.Error(err)
			}
			mine = append(mine, time.Since(begun))
		}
		mu.Lock()
		took = append(took, mine...)
		mu.Unlock()
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	stop()
	if err := <-over; err != nil {
		b.Error(err)
	}
	if err := store.Close(); err != nil {
		b.Error(err)
	}
}
