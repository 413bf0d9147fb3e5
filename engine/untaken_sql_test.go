package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// withdrawing is a store whose process dies when it has taken work out of its queue, before it knows whether a worker had
// taken it.
type withdrawing struct {
	backend.Store

	queued func() // called when work is in its queue
}

func (s *withdrawing) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	err := s.Store.Commit(ctx, claim, cp)
	if err == nil && slices.ContainsFunc(cp.Tokens, func(t storage.Token) bool { return t.Queue != "" && t.State == storage.TokenOpen }) {
		s.queued()
	}
	return err
}

func (s *withdrawing) Token(context.Context, string) (storage.Token, error) {
	return storage.Token{}, errLost
}

// TestUntakenInDatabase is TestUntaken for the death of the process, on the databases: another process finds the work
// that no worker has taken, reverts nothing of it, and no worker can take it afterwards.
func TestUntakenInDatabase(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		untakenIn(t, "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		untakenIn(t, dsn)
	})
}

func untakenIn(t *testing.T, dsn string) {
	t.Helper()
	for language, c := range atWork {
		for _, stays := range []bool{false, true} {
			name := strings.ReplaceAll(language, " ", "_") + map[bool]string{true: "_stays"}[stays]
			t.Run(name, func(t *testing.T) {
				child := strings.TrimPrefix(c.run, "r")
				queued := make(chan struct{})
				s := &stage{do: script{"c": func(ctx context.Context, _ int) error {
					select {
					case <-queued:
						return errRefused
					case <-ctx.Done():
						return ctx.Err()
					}
				}}}
				root := c.root(t, s, stays)
				drive := func(wrap func(backend.Store) backend.Store, judge func(*engine.Engine, backend.Store)) {
					t.Helper()
					db, err := sqlstore.Open(t.Context(), dsn)
					if err != nil {
						t.Fatal(err)
					}
					store := wrap(db)
					judge(newEngine(t, root, engine.WithStore(store), engine.WithTasks(staffed{parts{s}})), store)
					if err := db.Close(); err != nil {
						t.Error(err)
					}
				}
				drive(func(db backend.Store) backend.Store {
					return &withdrawing{Store: db, queued: sync.OnceFunc(func() { close(queued) })}
				}, func(eng *engine.Engine, _ backend.Store) {
					if _, err := eng.Run(t.Context(), name); !errors.Is(err, errLost) {
						t.Fatalf("the process did not die: %v", err)
					}
				})
				drive(func(db backend.Store) backend.Store { return db }, func(eng *engine.Engine, store backend.Store) {
					if _, err := eng.Run(t.Context(), name); err == nil {
						t.Error("the run succeeded")
					}
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
					defer cancel()
					w, err := engine.LeaseWork(ctx, store, storage.WorkRequest{Queues: []string{c.queue}, Worker: "late"}, time.Millisecond, nil)
					if err == nil {
						t.Errorf("taken %+v after the end of the attempt", w)
					}
					if tokens, err := store.RunTokens(t.Context(), name+child); err != nil || len(tokens) > 0 {
						t.Errorf("tokens are open: %+v, %v", tokens, err)
					}
					wantUndoOf(t, store, name, 1, false)
					if acts := s.took(); !cmp.Equal([]string{"undo a done"}, acts[len(acts)-1:]) {
						t.Errorf("acts are %q", acts)
					}
				})
			})
		}
	}
}
