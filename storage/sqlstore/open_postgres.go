package sqlstore

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/arrays"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	// sharedSessions is the number of shared transactions that run at the same time on a server. The second starts if
	// the first is still running and fullBatch more writes wait. With fewer writes, both would only wait for the
	// same disk.
	sharedSessions = 2
	fullBatch      = 128
	// singleSessions is the number of transactions with a single write that run at the same time beside the shared
	// ones.
	singleSessions = 3
	// maxConnections bounds a store's connections: for writing, for reading, and one temporary connection. The
	// lease renewer has another.
	maxConnections = sharedSessions + singleSessions + maxReaders + 1
	// boundSharedWait bounds how long a shared transaction waits for a row that another transaction has locked.
	// After that, the write that needs the row runs alone.
	boundSharedWait = `SET lock_timeout = '20ms'`
)

// openServer opens a database on a server.
func openServer(ctx context.Context, dsn string, opts []Option) (*Store, error) {
	server, err := postgres.Parse(dsn)
	if err != nil {
		return nil, err
	}
	s := &Store{
		place: server.Place, dialect: serverDialect, server: server, steps: schema.Migrations, lease: server.Lease,
		notifier: wakeup.New(nil), log: hclog.NewNullLogger(),
	}
	if err := s.apply(opts); err != nil {
		return nil, err
	}
	server.BoundIdle(s.lease)
	if s.readOnly {
		server.Config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	server.Open(maxConnections, arrays.Register)
	s.readers = newReaders(server.DB, serverDialect)
	if err := s.openServer(ctx); err != nil {
		return nil, errors.Join(dberr.Failed(s.place, "open", err), s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Store) openServer(ctx context.Context) (err error) {
	if err := serverSchema(s.server, s.steps).Check(ctx); err != nil || s.readOnly {
		return err
	}
	s.writer = newWriter(s.place, noTurn{}, writeSessions(sharedSessions)...)
	s.writer.full = fullBatch
	s.writer.waiting, s.writer.connect = s.notifier.Notify, connectWriter(s.server)
	s.writer.part(writeSessions(singleSessions)...)
	s.writer.connect = connectShared(s.server)
	if s.leaseRenewer, err = newLeaseRenewer(ctx, s); err != nil {
		return err
	}
	s.notifier.Tell = s.leaseRenewer.tell
	return s.evictExpired(ctx)
}

// writeSessions returns n sessions for writing, which connect when they are needed.
func writeSessions(n int) []*session {
	all := make([]*session, n)
	for i := range all {
		all[i] = &session{dialect: serverDialect}
	}
	return all
}

// connectWriter returns a function that connects a session for writing.
func connectWriter(s *postgres.Server) func(context.Context) (*session, error) {
	return func(ctx context.Context) (*session, error) {
		w, err := newSession(ctx, s.DB, serverDialect)
		if err == nil {
			w.usersPath, w.usersIdle = s.UsersPath, s.UsersIdle
		}
		return w, err
	}
}

// connectShared returns a function that connects a session for shared transactions.
func connectShared(s *postgres.Server) func(context.Context) (*session, error) {
	connect := connectWriter(s)
	return func(ctx context.Context) (*session, error) {
		w, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		if err := w.Run(ctx, boundSharedWait); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		return w, nil
	}
}

// noTurn is the gate of a database that allows many writers.
type noTurn struct{}

func (noTurn) Enter(<-chan struct{}) error { return nil }
func (noTurn) Leave() (bool, error)        { return false, nil }
