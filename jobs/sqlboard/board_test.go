package sqlboard_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/jobs/jobstest"
	"github.com/ebbflow/ebb/jobs/sqlboard"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func inMemory(_ *testing.T, policy jobs.Policy) (one, other jobs.Board) {
	records := storage.Memory()
	return sqlboard.New(records, policy), sqlboard.New(records.Join(), policy)
}

func setLimit(t *testing.T, b jobs.Board, limit storage.Limit) {
	t.Helper()
	if err := b.(*sqlboard.Board).Store().SetLimit(t.Context(), limit); err != nil {
		t.Fatal(err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	for _, c := range jobstest.Suite {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { c.Test(t, jobstest.Maker{Open: inMemory, SetLimit: setLimit}) })
		})
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Maker{Open: func(t *testing.T, policy jobs.Policy) (one, other jobs.Board) {
		return inDatabase(t, filepath.Join(t.TempDir(), "runs.db"), policy)
	}, SetLimit: setLimit})
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Maker{Open: func(t *testing.T, policy jobs.Policy) (one, other jobs.Board) {
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		return inDatabase(t, dsn, policy)
	}, SetLimit: setLimit})
}

// inDatabase returns the boards of two stores on one database.
func inDatabase(t *testing.T, dsn string, policy jobs.Policy) (one, other jobs.Board) {
	t.Helper()
	var boards [2]jobs.Board
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
		boards[i] = sqlboard.New(s, policy)
	}
	return boards[0], boards[1]
}
