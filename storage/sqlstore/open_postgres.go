package sqlstore

import (
	"context"
	"errors"
	"time"

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
func openServer(ctx context.Context, dsn string, opts []Option) (*store, error) {
	server, err := postgres.Parse(dsn)
	if err != nil {
		return nil, err
	}
	s := &store{
		place: server.Place, server: server, steps: schema.Migrations, lease: server.Lease,
		notifier: wakeup.New(nil), log: hclog.NewNullLogger(),
	}
	d := serverDialect
	d.watch, s.dialect = &s.watch, &d
	if err := s.apply(opts); err != nil {
		return nil, err
	}
	server.BoundIdle(s.lease)
	if s.readOnly {
		server.Config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	server.Open(maxConnections, arrays.Register)
	s.readers = newReaders(server.DB, s.dialect)
	if err := s.openServer(ctx); err != nil {
		return nil, errors.Join(dberr.Failed(s.place, "open", err), s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *store) openServer(ctx context.Context) (err error) {
	if err := serverSchema(s.server, s.steps).Check(ctx); err != nil {
		return err
	}
	s.watch.Lease = s.lease
	if err := s.readClock(ctx); err != nil || s.readOnly {
		return err
	}
	s.writer = newWriter(s.place, noTurn{}, s.writeSessions(sharedSessions)...)
	s.writer.full = fullBatch
	s.writer.waiting, s.writer.connect = s.notifier.Notify, s.connectWriter
	s.writer.part(s.writeSessions(singleSessions)...)
	s.writer.connect = s.connectShared
	if s.leaseRenewer, err = newLeaseRenewer(ctx, s); err != nil {
		return err
	}
	s.notifier.Tell = s.leaseRenewer.tell
	return s.evictExpired(ctx)
}

// readClock asks the server for its time.
func (s *store) readClock(ctx context.Context) error {
	return s.readers.glance(ctx, func(r *session) error {
		asked, micros := time.Now(), int64(0)
		err := r.Get(ctx, &micros, selectClock)
		if err == nil {
			s.watch.Tells(asked, time.Now(), micros)
		}
		return err
	})
}

// writeSessions returns n sessions for writing, which connect when they are needed.
func (s *store) writeSessions(n int) []*session {
	all := make([]*session, n)
	for i := range all {
		all[i] = &session{dialect: s.dialect}
	}
	return all
}

// connectWriter connects a session for writing.
func (s *store) connectWriter(ctx context.Context) (*session, error) {
	w, err := newSession(ctx, s.server.DB, s.dialect)
	if err == nil {
		w.usersPath, w.usersIdle = s.server.UsersPath, s.server.UsersIdle
	}
	return w, err
}

// connectShared connects a session for shared transactions.
func (s *store) connectShared(ctx context.Context) (*session, error) {
	w, err := s.connectWriter(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.Run(ctx, boundSharedWait); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// noTurn is the gate of a database that allows many writers.
type noTurn struct{}

func (noTurn) Enter(<-chan struct{}) error { return nil }
func (noTurn) Leave() (bool, error)        { return false, nil }
