package sqlstore_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/storagetest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// migrated returns a database of the test's own on a server, with Ebb's tables.
func migrated(tb testing.TB) string {
	tb.Helper()
	dsn := postgrestest.DSN(tb)
	if _, err := sqlstore.Migrate(context.Background(), dsn); err != nil {
		tb.Fatal(err)
	}
	return dsn
}

func openServer(tb testing.TB, dsn string, opts ...sqlstore.Option) *sqlstore.Store {
	tb.Helper()
	s, err := sqlstore.Open(context.Background(), dsn, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// empty deletes all rows, but not those that tables have from the start.
func empty(tb testing.TB, dsn string) {
	tb.Helper()
	postgrestest.Exec(tb, dsn, `DO $$ DECLARE name TEXT; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '`+postgrestest.Schema(tb, dsn)+`' AND tablename NOT IN ('migrations', 'record_revisions') LOOP
    EXECUTE format('DELETE FROM %I', name);
  END LOOP;
END $$`)
}

// TestServerStore runs the suite on PostgreSQL.
func TestServerStore(t *testing.T) {
	t.Parallel()
	var dsns, last sync.Map
	tables := lentTables{owner: t}
	join := func(tb testing.TB, dsn string) backend.Store {
		tb.Helper()
		s := openServer(tb, dsn)
		dsns.Store(s, dsn)
		return s
	}
	open := func(tb testing.TB) backend.Store {
		tb.Helper()
		// A test that opens a store and closes it, again and again, gets the same tables, emptied.
		if before, there := last.Load(tb); there {
			if _, err := before.(backend.Store).Owners(tb.Context()); errors.Is(err, storage.ErrClosed) {
				dsn, _ := dsns.Load(before)
				empty(tb, dsn.(string))
				return join(tb, dsn.(string))
			}
		}
		return join(tb, tables.lend(tb))
	}
	storagetest.Run(t, storagetest.Maker{
		Open: func(tb testing.TB) backend.Store {
			s := open(tb)
			last.Store(tb, s)
			return s
		},
		Join: func(tb testing.TB, s backend.Store) backend.Store {
			dsn, _ := dsns.Load(s)
			return join(tb, dsn.(string))
		},
		Die: func(tb testing.TB, s backend.Store) {
			if err := sqlstore.Die(tb.Context(), s.(*sqlstore.Store)); err != nil {
				tb.Error(err)
			}
		},
	})
}

// lentTables lends Ebb's tables on a server to one test after another, because making them takes longer than most tests.
// They are dropped when the test that owns them ends.
type lentTables struct {
	owner testing.TB

	mu   sync.Mutex
	free []string // the DSNs of empty tables
}

// lend returns the DSN of empty tables, which are lent until the test ends.
func (l *lentTables) lend(tb testing.TB) string {
	tb.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var dsn string
	if last := len(l.free) - 1; last >= 0 {
		dsn, l.free = l.free[last], l.free[:last]
	} else {
		dsn = migrated(l.owner)
	}
	tb.Cleanup(func() {
		empty(tb, dsn)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.free = append(l.free, dsn)
	})
	return dsn
}
