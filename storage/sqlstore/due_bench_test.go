package sqlstore_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// BenchmarkDue loads runs that are due, beside as many that are being driven.
func BenchmarkDue(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "runs.db"))
			q := backend.DueQuery{By: time.Now(), Flows: []string{"trip"}, Limit: n}
			for i := range 2 * n {
				r := storage.Run{ID: fmt.Sprint("run-", i), Flow: "trip", Due: q.By.Add(-time.Hour), Input: storage.Held{Data: atom.MustEncode("x")}}
				if err := s.Create(b.Context(), r); err != nil {
					b.Fatal(err)
				}
				if i < n {
					q.Except = append(q.Except, r.ID)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if due, _, err := s.Due(b.Context(), q); err != nil || len(due) != n {
					b.Fatal(len(due), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/run")
		})
	}
}
