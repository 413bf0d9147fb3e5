package sqlstore

import (
	"context"
	"errors"
	"io/fs"
	"testing/fstest"
	"time"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/arrays"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
)

// Later is the migrations with one more, for a file and for a server.
func Later(file, server string) fs.FS {
	all := fstest.MapFS{
		"migrations/9999_later.sql":          {Data: []byte(file)},
		"migrations/postgres/9999_later.sql": {Data: []byte(server)},
	}
	if err := fs.WalkDir(schema.Migrations, "migrations", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := schema.Migrations.ReadFile(name)
		all[name] = &fstest.MapFile{Data: text}
		return err
	}); err != nil {
		panic(err)
	}
	return all
}

// WithMigrations opens a file with other migrations than today's.
func WithMigrations(files fs.FS) Option { return func(s *store) { s.steps = files } }

// MigrateWith is Migrate with other migrations than today's, on a server.
func MigrateWith(ctx context.Context, dsn string, files fs.FS) (Schema, error) {
	return onServer(dsn, files, func(s *schema.Server) (schema.Found, error) { return s.Migrate(ctx) })
}

// Hear examines whether notifications arrive, for no longer than that.
func Hear(ctx context.Context, dsn string, patience time.Duration) error {
	s, err := postgres.Parse(dsn)
	if err != nil {
		return err
	}
	s.Open(maxConnections, arrays.Register)
	return errors.Join(hear(ctx, s, patience), s.DB.Close())
}

// ServerNow is the server's time as far as the store knows it.
func (s *Store) ServerNow() time.Time { return s.own.watch.Now() }

// ReadClock asks the server for its time, as each renewal of the lease does.
func (s *Store) ReadClock(ctx context.Context) error { return s.own.readClock(ctx) }

// Die makes the store's owner appear as a dead process.
func Die(ctx context.Context, opened *Store) error {
	s := opened.own
	ghost := s.owner.ID + "-dead"
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		insert, args := registerOwner, []any{ghost, s.owner.Host, s.owner.PID, micros(s.owner.Started), micros(s.owner.Seen)}
		if s.leaseRenewer != nil { // its lease has run out
			insert = `INSERT INTO owners (id, host, pid, started, seen, machine, lease) VALUES ($1, $2, $3, $4, $5, '', 1)`
		}
		if _, err := w.Exec(ctx, insert, args...); err != nil {
			return err
		}
		_, err := w.Exec(ctx, `UPDATE runs SET owner = $1 WHERE owner = $2`, ghost, s.owner.ID)
		return err
	}})
}

// LowerFew makes stores with few runs choose what stores with many runs choose.
func LowerFew() { maxFew = 10 }

// Register adds the row of a process.
func Register(ctx context.Context, opened *Store, id string) error {
	s := opened.own
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		insert := `INSERT INTO owners (id, host, pid, started, seen) VALUES ($1, 'elsewhere', 1, 1, 1)`
		if s.leaseRenewer != nil {
			insert = `INSERT INTO owners (id, host, pid, started, seen, machine, lease) VALUES ($1, 'elsewhere', 1, 1, 1, '', 1)`
		}
		_, err := w.Exec(ctx, insert, id)
		return err
	}})
}
