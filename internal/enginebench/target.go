package enginebench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A target is the database of one workload.
type target struct {
	store  backend.Store
	counts func() sqlstore.Counts // what the store has written; nil if it does not count
	raw    *sql.Conn              // connection to the same database, beside the store; nil in memory
	db     *sql.DB
	dir    string // folder of the database, to be deleted
	schema string // schema of a server, to be dropped
}

// open creates a database where the DSN says.
func open(ctx context.Context, dsn string) (_ *target, err error) {
	if dsn == "memory:" {
		return &target{store: memstore.New()}, nil
	}
	if isServer(dsn) {
		return openServer(ctx, dsn)
	}
	path := strings.TrimPrefix(dsn, "sqlite:")
	if strings.Contains(path, "://") {
		return nil, fmt.Errorf("%q cannot be measured: give memory:, sqlite:PATH or postgres://…", dsn)
	}
	t := &target{}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if t.dir, err = os.MkdirTemp(filepath.Dir(path), "ebb-bench-"); err != nil {
		return nil, fmt.Errorf("no folder for the database can be made: %w", err)
	}
	if t.dir, err = filepath.Abs(t.dir); err != nil {
		return nil, err
	}
	file := filepath.Join(t.dir, "bench.db")
	store, err := sqlstore.Open(ctx, "sqlite:"+file)
	if err != nil {
		return nil, err
	}
	t.store, t.counts = store, store.Counts
	q := url.Values{"_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "wal_autocheckpoint(0)", "cache_size(-32000)"}}
	if t.db, err = sql.Open("sqlite", (&url.URL{
		Scheme: "file", Path: filepath.ToSlash(file),
		RawQuery: q.Encode(),
	}).String()); err != nil {
		return nil, err
	}
	t.raw, err = t.db.Conn(ctx)
	return t, err
}

// size returns the bytes of the database that are in use.
func (t *target) size(ctx context.Context) (Figure, error) {
	if t.raw == nil {
		return unknown, nil
	}
	var n float64
	if t.schema != "" {
		err := t.raw.QueryRowContext(ctx, serverSize, t.schema).Scan(&n)
		return Figure(n), err
	}
	err := t.raw.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`).Scan(&n)
	return Figure(n), err
}

func (t *target) close() error {
	var errs []error
	if t.raw != nil {
		errs = append(errs, t.raw.Close())
	}
	if t.schema != "" {
		return errors.Join(append(errs, t.leave())...)
	}
	if t.db != nil {
		errs = append(errs, t.db.Close())
	}
	if t.store != nil {
		errs = append(errs, t.store.Close())
	}
	if t.dir != "" {
		errs = append(errs, os.RemoveAll(t.dir))
	}
	return errors.Join(errs...)
}
