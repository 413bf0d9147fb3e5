package sqlstore_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// barred returns why nobody can write to a database, as those who read it see it.
func barred(t *testing.T, dsn string) string {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), dsn, sqlstore.ReadOnly())
	must(t, err)
	defer shut(t, s)
	if _, err := s.Run(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	why, err := s.Barred(t.Context())
	must(t, err)
	return why
}

// TestBarred: those who read a database know that nobody can write to it.
func TestBarred(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		file, dir := filepath.Join(t.TempDir(), "runs.db"), t.TempDir()
		s := open(t, file)
		defer shut(t, s)
		must(t, s.Create(t.Context(), storage.Run{ID: "a", Flow: "trip"}))
		if why := barred(t, file); why != "" {
			t.Errorf("a database that takes writes: %s", why)
		}
		if err := syscall.Mount(filepath.Dir(file), dir, "", syscall.MS_BIND, ""); err != nil {
			t.Skipf("no right to mount a disk: %v", err)
		}
		t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
		must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
		if why := barred(t, filepath.Join(dir, "runs.db")); !strings.Contains(why, "for reading only") {
			t.Errorf("a disk for reading only: %q", why)
		}
	})
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		c := postgrestest.NewCluster(t)
		_, err := sqlstore.Migrate(t.Context(), c.DSN())
		must(t, err)
		s := openServer(t, c.DSN())
		must(t, s.Create(t.Context(), storage.Run{ID: "a", Flow: "trip"}))
		shut(t, s)
		if why := barred(t, c.DSN()); why != "" {
			t.Errorf("a database that takes writes: %s", why)
		}
		c.Standby()
		if why := barred(t, c.DSN()); !strings.Contains(why, "standby") {
			t.Errorf("a standby: %q", why)
		}
	})
}
