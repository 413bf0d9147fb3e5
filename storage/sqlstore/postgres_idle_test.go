package sqlstore_test

import (
	"sync"
	"testing"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
)

// TestServerEndsIdle: a server that ends connections on which nothing is asked, as idle_session_timeout and a restart have it
// do, does not make closing the store fail: all is committed.
//
// Attack (PostgreSQL: roles, settings and clock): 19 settings of Ebb's role (`ALTER ROLE … SET`), such as timeouts of 1
// ms and read-only.
// Result: Ebb sets what it needs on each connection.
// Also: ; others by hand.
func TestServerEndsIdle(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := openServer(t, dsn)
	if err := s.Create(t.Context(), storage.Run{ID: "a", Flow: "trip"}); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 16 { // so that there are connections to read by
		readers.Go(func() {
			if _, err := s.Run(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	admin := postgrestest.Connect(t, dsn)
	if _, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1`,
		postgrestest.Schema(t, dsn)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
