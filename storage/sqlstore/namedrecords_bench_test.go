package sqlstore

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// many is 10,000 machines with ten versions each.
const many = 100_000

// filledWith opens a file with that many records and definitions.
func filledWith(b *testing.B, n int) *store {
	b.Helper()
	file := filepath.Join(b.TempDir(), "ebb.db")
	s, err := openStore(b.Context(), file)
	if err != nil {
		b.Fatal(err)
	}
	const numbers = `WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < $1) `
	if err := s.update(b.Context(), &write{alone: true, do: func(ctx context.Context, w *session) error {
		if _, err := w.Exec(ctx, numbers+`INSERT INTO records (kind, key, revision, created, updated, body)
SELECT 'machine', n, (n), 1, 2, zeroblob(300) FROM r`, n); err != nil {
			return err
		}
		_, err := w.Exec(ctx, numbers+`INSERT INTO definitions (hash, name, version, language, text, created)
SELECT n, 'm' || (n / 10), n % 10 + 1, 'asl', zeroblob(1000), 0 FROM r`, n)
		return err
	}}); err != nil {
		b.Fatal(err)
	}
	// Without the WAL of all that, whose copying would be measured.
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	if s, err = openStore(b.Context(), file); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkStartOnRecord creates runs whose first commit also ends them, on the condition that a
// record has not changed.
func BenchmarkStartOnRecord(b *testing.B) {
	for _, c := range []struct {
		name    string
		records int
		checks  int
	}{{"unconditional", 1, 0}, {"of 1", 1, 1}, {"of many", many, 1}} {
		b.Run(c.name, func(b *testing.B) {
			s := filledWith(b, c.records)
			for i := 0; b.Loop(); i++ {
				record := fmt.Sprint(i%c.records + 1)
				check := []storage.RecordCheck{{Kind: "machine", Key: record, Revision: int64(i%c.records + 1)}}
				claim, _, err := backend.ClaimNew(storage.Run{ID: fmt.Sprint(i), Flow: "f"}, check[:c.checks]...)
				if err != nil {
					b.Fatal(err)
				}
				cp := &backend.Checkpoint{Head: backend.Head{Release: true, Time: time.Now()}}
				if err := s.Commit(b.Context(), claim, cp); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkClaimOfDefinition posts a job of a stored definition and claims it.
func BenchmarkClaimOfDefinition(b *testing.B) {
	for _, n := range []int{10, many} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filledWith(b, n)
			for i := 0; b.Loop(); i++ {
				if err := s.PostJob(b.Context(), storage.Job{ID: fmt.Sprint(i), Flow: fmt.Sprint("m", i%(n/10))}); err != nil {
					b.Fatal(err)
				}
				list, err := s.ClaimJobs(b.Context(), backend.JobClaim{Flows: []string{"f"}, Languages: []string{"asl", "sm4c"}, Lease: time.Minute})
				if err != nil || len(list) != 1 {
					b.Fatal(list, err)
				}
			}
		})
	}
}
