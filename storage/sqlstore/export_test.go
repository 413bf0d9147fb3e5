package sqlstore

import (
	"context"
	"errors"
	"io/fs"
	"testing/fstest"
	"time"
)

// Later is the migrations with one more, for a file and for a server.
func Later(file, server string) fs.FS {
	all := fstest.MapFS{
		"migrations/0012_later.sql":          {Data: []byte(file)},
		"migrations/postgres/0012_later.sql": {Data: []byte(server)},
	}
	for _, name := range []string{"migrations/0011_schema.sql", "migrations/postgres/0011_schema.sql"} {
		text, err := migrations.ReadFile(name)
		if err != nil {
			panic(err)
		}
		all[name] = &fstest.MapFile{Data: text}
	}
	return all
}

// WithMigrations opens a file with other migrations than today's.
func WithMigrations(files fs.FS) Option { return func(s *Store) { s.steps = files } }

// MigrateWith is Migrate with other migrations than today's, on a server.
func MigrateWith(ctx context.Context, dsn string, files fs.FS) (Schema, error) {
	return onServer(dsn, func(s *server) (Schema, error) {
		s.steps = files
		return s.migrate(ctx)
	})
}

// Hear examines whether notifications arrive, for no longer than that.
func Hear(ctx context.Context, dsn string, patience time.Duration) error {
	s, err := serverOf(dsn)
	if err != nil {
		return err
	}
	s.open()
	return errors.Join(s.hear(ctx, patience), s.db.Close())
}

// ServerNow is the server's time as far as the store knows it.
func (s *Store) ServerNow() time.Time { return s.leaseRenewer.watch.Now() }

// Die lets what the store owns be a dead process's.
func Die(ctx context.Context, s *Store) error {
	ghost := s.owner.ID + "-dead"
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		insert, args := registerOwner, []any{ghost, s.owner.Host, s.owner.PID, micros(s.owner.Started), micros(s.owner.Seen)}
		if s.leaseRenewer != nil { // its lease has run out
			insert = `INSERT INTO owners (id, host, pid, started, seen, machine, lease) VALUES (?, ?, ?, ?, ?, '', 1)`
		}
		if _, err := w.exec(ctx, insert, args...); err != nil {
			return err
		}
		_, err := w.exec(ctx, `UPDATE runs SET owner = ? WHERE owner = ?`, ghost, s.owner.ID)
		return err
	}})
}
