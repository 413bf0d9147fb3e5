package sqlstore

import (
	"context"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
)

// openOnServer opens a database of the test's own on a server.
func openOnServer(t *testing.T) (s *store, dsn string) {
	t.Helper()
	dsn = postgrestest.DSN(t)
	if _, err := Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	s, err := openStore(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dsn
}

// TestServerLimitRace sets a limit while a run that it counts is being created. The limit
// counts the run, no matter which of the two commits first.
//
// Guarantee (G6): On PostgreSQL, a run created while a limit is set counts.
func TestServerLimitRace(t *testing.T) {
	t.Parallel()
	s, dsn := openOnServer(t)
	admin := postgrestest.Connect(t, dsn)
	made, commit := make(chan struct{}), make(chan struct{})
	creates, limits := make(chan error, 1), make(chan error, 1)
	go func() {
		creates <- s.writer.run(t.Context(), &write{do: func(ctx context.Context, w *session) error {
			run := storage.Run{ID: "a", Flow: "trip"}
			if _, err := createRun(ctx, w, &run, nil); err != nil {
				return err
			}
			err := w.Flush(ctx)
			close(made)
			<-commit
			return err
		}})
	}()
	<-made
	go func() { limits <- s.SetLimit(t.Context(), storage.Limit{Flow: "trip", Runs: 1}) }()
	for waits := false; !waits && len(limits) == 0; time.Sleep(time.Millisecond) {
		if err := admin.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'relation' AND NOT granted AND application_name = $1)`, postgrestest.Schema(t, dsn)).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	close(commit)
	for _, ended := range []chan error{creates, limits} {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Create(t.Context(), storage.Run{ID: "b", Flow: "trip"}); err != nil {
		t.Fatal(err)
	}
	var counted int
	if err := admin.QueryRow(t.Context(), `SELECT count(*) FROM runs WHERE bucket IS NOT NULL`).Scan(&counted); err != nil || counted != 2 {
		t.Errorf("the limit counts %d runs of 2 (%v)", counted, err)
	}
}
