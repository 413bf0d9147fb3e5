package sqlstore

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"
)

// openServer opens a database on a server.
func openServer(ctx context.Context, dsn string, opts []Option) (*Store, error) {
	server, err := serverOf(dsn)
	if err != nil {
		return nil, err
	}
	s := &Store{place: server.place, dialect: serverDialect, server: server, steps: migrations, lease: server.lease, notifier: newNotifier(nil), log: hclog.NewNullLogger()}
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
	s.writer = newWriter(s.place, noTurn{}, buckets(bucketsShared)...)
	s.writer.full = fullBatch
	s.writer.waiting, s.writer.connect = s.notifier.notify, s.server.bucket
	s.writer.part(buckets(bucketsApart)...)
	s.writer.connect = s.server.sharedBucket
	if s.leaseRenewer, err = newLeaseRenewer(ctx, s); err != nil {
		return err
	}
	s.notifier.tell = s.leaseRenewer.tell
	return s.evictExpired(ctx)
}

// lanes returns so many, which connect when they are needed.
func buckets(n int) []*session {
	all := make([]*session, n)
	for i := range all {
		all[i] = &session{dialect: serverDialect}
	}
	return all
}

// lane connects one who writes.
func (s *server) bucket(ctx context.Context) (*session, error) {
	bucket, err := newSession(ctx, s.db, serverDialect)
	if err == nil {
		bucket.userTxPath, bucket.userTxIdle = s.path, s.userTxIdle
	}
	return bucket, err
}

// sharedBucket connects one for which many wait.
func (s *server) sharedBucket(ctx context.Context) (*session, error) {
	bucket, err := s.bucket(ctx)
	if err != nil {
		return nil, err
	}
	if err := bucket.run(ctx, "SET lock_timeout = "+millis(sharedWait)); err != nil {
		return nil, errors.Join(err, bucket.close())
	}
	return bucket, nil
}
