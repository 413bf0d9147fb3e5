package jobs_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func inMemory(_ *testing.T, policy jobs.Policy) (one, other *jobs.Board) {
	records := memstore.New()
	return jobs.New(records, policy), jobs.New(records.Join(), policy)
}

// Guarantee (Jobs): All processes together post one job per tick, and make up only for the latest missed ones.
// Also: `TestSQLite`, `TestPostgreSQL`, `conductor: TestSchedules`.
func TestMemory(t *testing.T) {
	t.Parallel()
	for _, c := range suite {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { c.test(t, inMemory) })
		})
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	testInDatabase(t, func(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "runs.db") })
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	testInDatabase(t, func(t *testing.T) string {
		t.Helper()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		return dsn
	})
}

func testInDatabase(t *testing.T, dsn func(t *testing.T) string) {
	t.Helper()
	for _, c := range suite {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, func(t *testing.T, policy jobs.Policy) (one, other *jobs.Board) {
				t.Helper()
				return inDatabase(t, dsn(t), policy)
			})
		})
	}
}

// inDatabase returns the boards of two stores on one database.
func inDatabase(t *testing.T, dsn string, policy jobs.Policy) (one, other *jobs.Board) {
	t.Helper()
	var boards [2]*jobs.Board
	for i := range boards {
		s, err := sqlstore.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		boards[i] = jobs.New(s, policy)
	}
	return boards[0], boards[1]
}
