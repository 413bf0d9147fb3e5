package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A largest store knows the number of rows of the largest commit.
type largest struct {
	backend.Store
	rows, commits int
}

func (l *largest) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	l.rows = max(l.rows, len(cp.Atoms)+len(cp.History)+len(cp.Timers)+len(cp.Tokens)+len(cp.Messages))
	l.commits++
	return l.Store.Commit(ctx, c, cp)
}

// eachStore runs a test on each kind of store.
func eachStore(t *testing.T, test func(t *testing.T, store backend.Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, memstore.New()) })
	t.Run("sqlite", func(t *testing.T) {
		store, _ := openScale(t)
		test(t, store)
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		store, err := sqlstore.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		test(t, store)
	})
}

// TestScaleForkBegins starts a fork with very many children at once. Commits stay small for any number of them.
//
// Attack (Large runs): A fork begins very many children at once.
// Result: One child for each question to its language, at most 2,500 rows a commit; a command is heard between two.
// Also: `engine/internal/scheduler: TestForkBeginsInSteps`.
func TestScaleForkBegins(t *testing.T) {
	n := scale(t, 5_000)
	language := lang(func(ask *grow.Ask) grow.Growth {
		switch cause := &ask.Cause; {
		case ask.Index < 0 && cause.Kind == grow.Begin:
			return add(grow.Spec{Name: "g", Kind: grow.Fork, Group: &grow.Group{Count: n}})
		case ask.Index >= 0 && cause.Kind == grow.Begin:
			return add(grow.Spec{Name: "t", Kind: grow.Timer, Due: ask.Now.Add(time.Second)})
		default:
			return done(nil)
		}
	})
	eachStore(t, func(t *testing.T, store backend.Store) {
		l := &largest{Store: store}
		eng := newEngine(t, flow.Growing("f", language), engine.WithStore(l))
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d children: at most %d rows in one of %d commits", n, l.rows, l.commits)
		if l.rows > 4_000 {
			t.Errorf("one of %d commits had %d rows", l.commits, l.rows)
		}
	})
}
