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
	// lanesShared is the number of shared transactions that run at the same time on a server. The second starts if
	// the first is still running and fullBatch more writes wait. With fewer writes, both would only wait for the
	// same disk.
	lanesShared = 2
	fullBatch   = 128
	// lanesApart is the number of transactions with a single write that run at the same time beside the shared
	// ones.
	lanesApart = 3
	// maxConnections bounds a store's connections: for writing, for reading, and one temporary connection. The
	// lease renewer has another.
	maxConnections = lanesShared + lanesApart + maxReaders + 1
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
	s.writer = newWriter(s.place, noTurn{}, lanes(lanesShared)...)
	s.writer.full = fullBatch
	s.writer.waiting, s.writer.connect = s.notifier.Notify, connectLane(s.server)
	s.writer.part(lanes(lanesApart)...)
	s.writer.connect = connectSharedLane(s.server)
	if s.leaseRenewer, err = newLeaseRenewer(ctx, s); err != nil {
		return err
	}
	s.notifier.Tell = s.leaseRenewer.tell
	return s.evictExpired(ctx)
}

// lanes returns n sessions for writing, which connect when they are needed.
func lanes(n int) []*session {
	all := make([]*session, n)
	for i := range all {
		all[i] = &session{dialect: serverDialect}
	}
	return all
}

// connectLane returns a function that connects a session for writing.
func connectLane(s *postgres.Server) func(context.Context) (*session, error) {
	return func(ctx context.Context) (*session, error) {
		lane, err := newSession(ctx, s.DB, serverDialect)
		if err == nil {
			lane.usersPath, lane.usersIdle = s.UsersPath, s.UsersIdle
		}
		return lane, err
	}
}

// connectSharedLane returns a function that connects a session for shared transactions.
func connectSharedLane(s *postgres.Server) func(context.Context) (*session, error) {
	connect := connectLane(s)
	return func(ctx context.Context) (*session, error) {
		lane, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		if err := lane.Run(ctx, boundSharedWait); err != nil {
			return nil, errors.Join(err, lane.Close())
		}
		return lane, nil
	}
}

// noTurn is the gate of a database that allows many writers.
type noTurn struct{}

func (noTurn) Enter(<-chan struct{}) error { return nil }
func (noTurn) Leave() (bool, error)        { return false, nil }
