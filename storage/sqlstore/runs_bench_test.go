package sqlstore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// BenchmarkRuns makes runs and ends them, 64 at once: in one checkpoint, or in two; with labels, or without.
func BenchmarkRuns(b *testing.B) {
	for name, dsn := range map[string]func() string{
		"sqlite": func() string { return filepath.Join(b.TempDir(), "bench.db") },
		"postgres": func() string {
			dsn := postgrestest.DSN(b)
			if _, err := sqlstore.Migrate(b.Context(), dsn); err != nil {
				b.Fatal(err)
			}
			return dsn
		},
	} {
		b.Run(name, func(b *testing.B) {
			s, err := sqlstore.Open(b.Context(), dsn())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			var made atomic.Int64
			for _, labels := range []map[string]string{nil, {"machine": "m", "alias": "a"}} {
				for _, commits := range []int{1, 2} {
					b.Run(fmt.Sprintf("labels=%d/commits=%d", len(labels), commits), func(b *testing.B) {
						var left atomic.Int64
						left.Store(int64(b.N))
						b.ResetTimer()
						race(64, func(int) {
							for left.Add(-1) >= 0 {
								run := storage.Run{ID: fmt.Sprint("run", made.Add(1)), Flow: "bench", Labels: labels}
								if err := wholeRun(b.Context(), s, run, commits); err != nil {
									b.Error(err)
									return
								}
							}
						})
					})
				}
			}
		})
	}
}

// wholeRun makes a run and ends it.
func wholeRun(ctx context.Context, s backend.Store, run storage.Run, commits int) error {
	claim, _, err := backend.ClaimNew(run)
	for i := range commits {
		if err != nil {
			return err
		}
		now := time.Now()
		cp := backend.Checkpoint{
			Head: backend.Head{Seq: int64(i), State: states.FlowRunning, Started: now, Time: now, Entries: 2 * int64(i+1)},
			History: []storage.Entry{
				{Seq: 2*int64(i) + 1, Kind: storage.EntryAtom, Path: "a", To: 1, Time: now},
				{Seq: 2*int64(i) + 2, Kind: storage.EntryAtom, Path: "a", From: 1, To: 2, Time: now},
			},
		}
		if i == commits-1 {
			cp.Head.State, cp.Head.Outcome, cp.Head.Ended, cp.Head.Release = states.FlowSuccess, storage.Succeeded, now, true
		}
		err = s.Commit(ctx, claim, &cp)
	}
	return err
}
