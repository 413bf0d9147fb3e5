package sqlstore

import (
	"context"
	"errors"
)

// openServer opens a database on a server.
func openServer(ctx context.Context, dsn string, opts []Option) (*Store, error) {
	server, err := serverOf(dsn)
	if err != nil {
		return nil, err
	}
	s := &Store{place: server.place, dialect: serverDialect, server: server, lease: server.lease, bell: newBell(nil)}
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
		return nil, errors.Join(failed(s.place, "open", err), s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Store) openServer(ctx context.Context) (err error) {
	if err := s.server.check(ctx); err != nil || s.readOnly {
		return err
	}
	lanes := make([]*session, maxLanes)
	for i := range lanes {
		lanes[i] = &session{dialect: serverDialect} // it connects when it is needed
	}
	s.writer = newWriter(s.place, noTurn{}, lanes...)
	s.writer.ring = s.bell.rang
	s.writer.connect = func(ctx context.Context) (*session, error) {
		lane, err := newSession(ctx, s.server.db, serverDialect)
		if err == nil {
			lane.guestPath, lane.guestIdle = s.server.path, s.server.guestIdle
		}
		return lane, err
	}
	if s.keeper, err = newKeeper(ctx, s); err != nil {
		return err
	}
	s.bell.tell = s.keeper.tell
	return s.buryExpired(ctx)
}
