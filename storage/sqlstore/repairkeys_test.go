package sqlstore_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestRepairKeys lets another program than Ebb remove keys and add stray ones.
func TestRepairKeys(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "runs.db")
		repairKeys(t, "sqlite:"+file, func(statement string) {
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.ExecContext(t.Context(), statement)
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.Database(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		repairKeys(t, dsn, func(statement string) { postgrestest.Exec(t, dsn, statement) })
	})
}

func repairKeys(t *testing.T, dsn string, execute func(statement string)) {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	for id, key := range map[string]string{"lost": "a", "kept": "b", "ended": "c", "none": ""} {
		if err := s.Create(t.Context(), storage.Run{ID: id, Flow: "f", Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range []string{
		`DELETE FROM open_keys WHERE key = 'a'`,
		`UPDATE runs SET state = 4, ended = created WHERE n = (SELECT n FROM origins WHERE id = 'ended')`,
	} {
		execute(statement)
	}
	for _, want := range []int64{1, 0} { // the second time there is nothing to do
		released, restored, err := s.RepairKeys(t.Context())
		if err != nil || released != want || restored != want {
			t.Errorf("released %d, restored %d, %v, want %d", released, restored, err, want)
		}
	}
	for key, want := range map[string]string{"a": "lost", "b": "kept", "c": ""} {
		run, err := s.OpenRun(t.Context(), key)
		if run != want || (want == "") != errors.Is(err, storage.ErrNotFound) {
			t.Errorf("the key %s is held by %q, %v, want %q", key, run, err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
