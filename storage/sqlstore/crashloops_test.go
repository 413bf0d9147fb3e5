package sqlstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestTakenForDead: a process that lives after all takes back what its death was counted for.
func TestTakenForDead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		takenForDead(t, file, func(s *sqlstore.Store) {
			if err := os.Remove(file + "-owner-" + s.Owner().ID); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		dsn := migrated(t)
		takenForDead(t, dsn, func(s *sqlstore.Store) {
			// This machine's processes are known to live: it is as if it were another's.
			postgrestest.Exec(t, dsn, `UPDATE owners SET lease = 1, machine = '' WHERE id = '`+s.Owner().ID+`'`)
		})
	})
}

func takenForDead(t *testing.T, dsn string, seemDead func(*sqlstore.Store)) {
	t.Helper()
	ctx := t.Context()
	s, other := openServer(t, dsn), openServer(t, dsn)
	defer shut(t, s)
	defer shut(t, other)
	if err := s.Create(ctx, storage.Run{ID: "a", Due: time.Now()}); err != nil {
		t.Fatal(err)
	}
	lost := func() int64 {
		run, err := other.Run(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		return run.Lost
	}
	take := func(by *sqlstore.Store) {
		if _, _, err := by.BeginIsolated(ctx, "a"); err != nil {
			t.Fatal(err)
		}
	}
	until := func(what string, is func() bool) {
		for by := time.Now().Add(time.Minute); !is(); {
			if time.Now().After(by) {
				t.Fatal(what)
			}
			if _, _, err := other.Due(ctx, backend.DueQuery{By: time.Unix(0, 0)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	take(other)
	if err := sqlstore.Die(ctx, other); err != nil {
		t.Fatal(err)
	}
	until("a dead process is not noticed", func() bool { return lost() == 2 })
	take(s)
	until("a process that seems dead is not noticed", func() bool {
		if lost() == 3 {
			return true
		}
		seemDead(s) // again and again, as it says meanwhile that it lives
		return false
	})
	if st, err := other.Status(ctx); err != nil || st.CrashLoops != 1 || st.Isolated != 0 {
		t.Errorf("the status is %+v (%v)", st, err)
	}
	until("the process does not live again", func() bool {
		if _, _, err := s.RunsWithMessages(ctx, 0); err != nil { // on a file it looks then
			t.Fatal(err)
		}
		return lost() == 2
	})
	if run, err := other.Run(ctx, "a"); err != nil || run.CrashLoop.Proof != 0 || run.CrashLoop.Isolation != 0 {
		t.Errorf("it is %+v (%v)", run.CrashLoop, err)
	}
}
