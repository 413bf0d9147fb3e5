package sqlstore

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// openServer opens a database on a server.
func openServer(ctx context.Context, dsn string, opts []Option) (*Store, error) {
	server, err := serverOf(dsn)
	if err != nil {
		return nil, err
	}
	s := &Store{
		place: server.place, dialect: serverDialect, server: server, steps: migrations, lease: server.lease,
		notifier: wakeup.New(nil), log: hclog.NewNullLogger(),
	}
	for _, opt := range opts {
		opt(s)
	}
	server.impatient(s.lease)
	if s.readOnly {
		server.config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	server.open()
	s.readers = newReaders(server.db, serverDialect)
	if err := s.openServer(ctx); err != nil {
		return nil, errors.Join(dberr.Failed(s.place, "open", err), s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Store) openServer(ctx context.Context) (err error) {
	if err := s.server.check(ctx); err != nil || s.readOnly {
		return err
	}
	s.writer = newWriter(s.place, noTurn{}, lanes(lanesShared)...)
	s.writer.full = fullBatch
	s.writer.waiting, s.writer.connect = s.notifier.Notify, s.server.lane
	s.writer.part(lanes(lanesApart)...)
	s.writer.connect = s.server.sharedLane
	if s.leaseRenewer, err = newLeaseRenewer(ctx, s); err != nil {
		return err
	}
	s.notifier.Tell = s.leaseRenewer.tell
	return s.evictExpired(ctx)
}

// lanes returns n sessions to write with, which connect when they are needed.
func lanes(n int) []*session {
	all := make([]*session, n)
	for i := range all {
		all[i] = &session{dialect: serverDialect}
	}
	return all
}

// lane connects a session to write with.
func (s *server) lane(ctx context.Context) (*session, error) {
	lane, err := newSession(ctx, s.db, serverDialect)
	if err == nil {
		lane.userTxPath, lane.userTxIdle = s.path, s.userTxIdle
	}
	return lane, err
}

// sharedLane connects a session whose transactions many writes share.
func (s *server) sharedLane(ctx context.Context) (*session, error) {
	lane, err := s.lane(ctx)
	if err != nil {
		return nil, err
	}
	if err := lane.run(ctx, "SET lock_timeout = "+millis(sharedWait)); err != nil {
		return nil, errors.Join(err, lane.close())
	}
	return lane, nil
}
