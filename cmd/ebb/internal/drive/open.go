package drive

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// WithRun opens the database and calls f with the run of that id, and the live process that drives it, or nil.
func WithRun(ctx context.Context, s *session.Session, id string,
	f func(*sqlstore.Store, *storage.Run, *storage.Owner) error,
) error {
	return s.WithExisting(ctx, func(store *sqlstore.Store) error {
		run, owner, err := session.FindOwnedRun(ctx, store, id)
		if err != nil {
			return err
		}
		return f(store, &run, owner)
	})
}

// Open returns a driver for a stored run.
func Open(ctx context.Context, s *session.Session, store backend.Store, run *storage.Run) (*Driver, error) {
	if run.Definition == "" {
		return nil, exit.Usagef("run %s is of the flow %s, which is in a Go program: only that program can do this", run.ID,
			run.Flow)
	}
	def, err := store.Definition(ctx, run.Definition)
	if err != nil {
		return nil, exit.DatabaseError(err)
	}
	m, err := definition.ParseStored(&def)
	if err != nil {
		return nil, fmt.Errorf("the definition of run %s: %w", run.ID, err)
	}
	b, err := definition.BeginningOf(run)
	if err != nil {
		return nil, exit.DatabaseError(err)
	}
	registry, err := b.Registry(run.Flow, s.FolderMode())
	if err != nil {
		return nil, err
	}
	machines := []definition.Machine{m}
	known := &definition.Catalog{Store: store}
	for _, hash := range b.Flows {
		m, err := known.Machine(ctx, hash)
		if err != nil {
			return nil, exit.DatabaseError(err)
		}
		machines = append(machines, m)
	}
	s.Services().Join(registry, machines...)
	return &Driver{Session: s, Store: store, Machine: m, Flow: run.Flow, ID: run.ID, Tasks: registry}, nil
}

// Recall reads what the run did before, if that will be shown.
func (d *Driver) Recall(ctx context.Context, run *storage.Run) error {
	if d.Session.Out.Terminal() == nil || d.Session.JSON() {
		return nil
	}
	t, err := inspect.Recorded(ctx, d.Store, run, nil)
	d.tree = t
	return exit.DatabaseError(err)
}
