package engine_test

import (
	"context"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// BenchmarkStart starts runs of a machine with one Pass state from 64 callers, on a file with synchronous=FULL. When a
// caller continues, its run is durable and has ended.
func BenchmarkStart(b *testing.B) {
	m, err := asl.Parse("pass", []byte(`{"StartAt":"Pass","States":{"Pass":{"Type":"Pass","End":true}}}`))
	if err != nil {
		b.Fatal(err)
	}
	root := m.Flow()
	store, err := sqlstore.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "ebb.db"))
	if err != nil {
		b.Fatal(err)
	}
	server, err := engine.NewServer(engine.Flows(root), store)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	over := make(chan error)
	go func() { over <- server.Serve(ctx) }()
	var ids atomic.Int64
	const callers = 64
	b.SetParallelism(callers / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			run, err := server.NewRun(root, "run-"+strconv.FormatInt(ids.Add(1), 10))
			if err == nil {
				err = server.Start(b.Context(), run)
			}
			if err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "starts/s")
	stop()
	if err := <-over; err != nil {
		b.Error(err)
	}
	if err := store.Close(); err != nil {
		b.Error(err)
	}
}
