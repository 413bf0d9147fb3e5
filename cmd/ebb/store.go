package main

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// withFile opens the database, calls f and closes it again.
func (s *session) withFile(ctx context.Context, f func(*sqlstore.Store) error, opts ...sqlstore.Option) (err error) {
	store, err := sqlstore.Open(ctx, s.dsn, append(s.storing(), opts...)...)
	if err != nil {
		return unreachable(err)
	}
	defer func() { err = errors.Join(err, unreachable(store.Close())) }() //nolint:contextcheck // what is open is closed, whatever became of ctx
	return f(store)
}

// storing returns how databases are opened.
func (s *session) storing() []sqlstore.Option {
	log := s.logger()
	if log.GetLevel() == hclog.Off { // what the operator has to see to is said in any case
		log = hclog.New(&hclog.LoggerOptions{Name: "ebb", Level: hclog.Warn, Output: s.err})
	}
	opts := []sqlstore.Option{sqlstore.Log(log)}
	if s.fileMode == folderMode {
		opts = append(opts, sqlstore.FolderMode())
	}
	return opts
}

// withStore is withFile for what any store can do.
func (s *session) withStore(ctx context.Context, f func(storage.Store) error) error {
	return s.withFile(ctx, func(store *sqlstore.Store) error { return f(store) })
}

// reading is withStore for commands that only look. A database of an older Ebb
// is brought to today's schema first, which opening it for writing does.
func (s *session) reading(ctx context.Context, f func(storage.Store) error) error {
	err := s.withFile(ctx, func(store *sqlstore.Store) error { return f(store) }, sqlstore.ReadOnly())
	if errors.Is(err, sqlstore.ErrOlder) {
		return s.withStore(ctx, f)
	}
	return err
}

// listing shows each of what is found in the store.
func listing[T any](ctx context.Context, s *session, find func(storage.Store) ([]T, error), show func(*T) error) error {
	return s.reading(ctx, func(store storage.Store) error {
		found, err := find(store)
		if err != nil {
			return unreachable(err)
		}
		for i := range found {
			if err := show(&found[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// findRun returns the run of that id.
func findRun(ctx context.Context, store storage.Reader, id string) (storage.Run, error) {
	run, err := store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return run, &statusError{status: exitNotFound, err: &noRunError{id}}
	}
	return run, unreachable(err)
}

// A noRunError says that there is no run of that id.
type noRunError struct{ id string }

// Error names the run and how to find others.
func (e *noRunError) Error() string {
	return "there is no run " + e.id + " (ebb list shows those there are)"
}
