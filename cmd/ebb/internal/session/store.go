package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// MemoryDSN is the DSN of a database in memory, which only ebb emulate has.
const MemoryDSN = "memory:"

// WithStore opens the database, or creates it, calls f and closes it again.
func (s *Session) WithStore(ctx context.Context, f func(*sqlstore.Store) error, opts ...sqlstore.Option) (err error) {
	if s.DSN == MemoryDSN {
		return exit.Usagef("--dsn %s is for ebb emulate: no other process could see what is in memory", s.DSN)
	}
	store, err := sqlstore.Open(ctx, s.DSN, append(s.StoreOptions(), opts...)...)
	if err != nil {
		return exit.DatabaseError(err)
	}
	defer func() { err = errors.Join(err, exit.DatabaseError(store.Close())) }()
	return f(store)
}

// StoreOptions returns the options for opening databases.
func (s *Session) StoreOptions() []sqlstore.Option {
	log := s.Logger()
	if log.GetLevel() == hclog.Off { // problems that an operator must handle are logged in any case
		log = s.logger(hclog.Warn)
	}
	opts := []sqlstore.Option{sqlstore.Log(log)}
	if s.FolderMode() {
		opts = append(opts, sqlstore.FolderMode())
	}
	return opts
}

// WithExisting is WithStore for commands that change the content of the database. It does not create a database.
func (s *Session) WithExisting(ctx context.Context, f func(*sqlstore.Store) error) error {
	if err := s.Reading(ctx, func(*sqlstore.Store) error { return nil }); err != nil {
		return err
	}
	return s.WithStore(ctx, f)
}

// Reading is WithStore for commands that only read. It does not create a database. If an older Ebb created the
// database, Reading first opens it for writing, which migrates it.
func (s *Session) Reading(ctx context.Context, f func(*sqlstore.Store) error) error {
	opened := false
	err := s.WithStore(ctx, func(store *sqlstore.Store) error { opened = true; return f(store) }, sqlstore.ReadOnly())
	switch {
	case errors.Is(err, sqlstore.ErrOlder):
		return s.WithStore(ctx, f)
	case !opened && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; ebb run and ebb post create it, and --dsn names another", err)
	default:
		return err
	}
}

// FindRun returns the run of that id.
func FindRun(ctx context.Context, store backend.Reader, id string) (storage.Run, error) {
	run, err := store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return run, &exit.Error{Status: exit.NotFound, Err: fmt.Errorf("there is no run %s (ebb list shows all runs)",
			id)}
	}
	return run, exit.DatabaseError(err)
}

// FindOwnedRun returns the run of that id and the live process that drives it, or nil.
func FindOwnedRun(ctx context.Context, store backend.Store, id string) (storage.Run, *storage.Owner, error) {
	for {
		run, err := FindRun(ctx, store, id)
		if err != nil || run.Owner == "" {
			return run, nil, err
		}
		owner, err := FindOwner(ctx, store, run.Owner)
		if err != nil {
			return run, nil, exit.DatabaseError(err)
		}
		if owner.Alive {
			return run, &owner, nil
		}
		// The owner died, or it finished the run and ended meanwhile.
		again, err := FindRun(ctx, store, id)
		if err != nil || again.Owner == run.Owner {
			return again, nil, err
		}
	}
}

// FindOwner returns the owner with that id. An unknown owner is not alive.
func FindOwner(ctx context.Context, store backend.Store, id string) (storage.Owner, error) {
	list, err := store.Owners(ctx)
	for i := range list {
		if list[i].ID == id {
			return list[i], nil
		}
	}
	return storage.Owner{ID: id}, err
}
