package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A place is where a system creates its database: a new file, or a new schema of a server.
type place struct {
	file   string // SQLite
	server string // the DSN of PostgreSQL, without a schema
	schema string
}

// newPlace creates an empty folder, or names a schema that does not exist.
func newPlace(ctx context.Context, c comparison) (place, error) {
	if c.dsn != "" {
		return place{server: c.dsn, schema: "bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")}, ctx.Err()
	}
	dir, err := os.MkdirTemp(c.dir, "bench-")
	if err != nil {
		return place{}, err
	}
	dir, err = filepath.Abs(dir)
	return place{file: filepath.Join(dir, "bench.db")}, err
}

// remove deletes the folder or the schema.
func (p place) remove(ctx context.Context) error {
	if p.file != "" {
		return os.RemoveAll(filepath.Dir(p.file))
	}
	conn, err := pgx.Connect(ctx, p.server)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+p.schema+" CASCADE")
	return errors.Join(err, conn.Close(ctx))
}

// parameter returns the DSN of the server with one more parameter.
func (p place) parameter(name, value string) (string, error) {
	u, err := url.Parse(p.server)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String(), nil
}
