package sfn_test

import (
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// BenchmarkStartExecution starts executions of a machine with one Pass state, from many clients over HTTP.
func BenchmarkStartExecution(b *testing.B) {
	for name, open := range map[string]func() (backend.Store, error){
		"memory": func() (backend.Store, error) { return memstore.New(), nil },
		"sqlite": func() (backend.Store, error) {
			return sqlstore.Open(b.Context(), filepath.Join(b.TempDir(), "ebb.db"))
		},
	} {
		b.Run(name, func(b *testing.B) {
			store, err := open()
			if err != nil {
				b.Fatal(err)
			}
			s := serveOn(b, store, nil)
			machine := s.create("Pass", passing)
			var n atomic.Int64
			b.SetParallelism(32) // clients for each core
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.start(machine, strconv.FormatInt(n.Add(1), 10), `{}`)
				}
			})
			b.StopTimer()
			s.stop()
			if err := store.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
