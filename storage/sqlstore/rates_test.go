package sqlstore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestUsedRateIsRead: a claimant that looks for jobs while rates allow none writes nothing,
// and does not wait for writers.
func TestUsedRateIsRead(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "runs.db")
		s := open(t, file)
		defer shut(t, s)
		usedRate(t, s, func() func() {
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		dsn := migrated(t)
		s := openServer(t, dsn)
		defer shut(t, s)
		usedRate(t, s, func() func() {
			conn := postgrestest.Connect(t, dsn)
			if _, err := conn.Exec(t.Context(), "BEGIN; SELECT flow FROM limits FOR UPDATE"); err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := conn.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	})
}

// usedRate looks for jobs while another connection writes. That write begins with hold and
// ends with the function that hold returns.
func usedRate(t *testing.T, s *sqlstore.Store, hold func() func()) {
	t.Helper()
	claim := func(want int) {
		t.Helper()
		list, err := s.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour, Limit: 9})
		if err != nil || len(list) != want {
			t.Fatalf("claimed %d (%v), want %d", len(list), err, want)
		}
	}
	for _, l := range []storage.Limit{{Rate: 3, Per: time.Hour}, {Flow: "f", Rate: 1, Per: time.Hour}} {
		if err := s.SetLimit(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	posted := 0
	post := func(flow string) {
		t.Helper()
		posted++
		if err := s.PostJob(t.Context(), storage.Job{ID: strconv.Itoa(posted), Flow: flow}); err != nil {
			t.Fatal(err)
		}
	}
	post("f")
	post("f")
	claim(1)
	claim(0)
	release := hold()
	claim(0) // of this flow
	release()
	post("g")
	post("g")
	post("g")
	claim(2)
	claim(0)
	release = hold()
	claim(0) // of any flow
	release()
}
