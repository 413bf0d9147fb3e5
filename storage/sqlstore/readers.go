package sqlstore

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage"
)

// maxReaders is how many may read at the same time.
const maxReaders = 4

// readers is a small pool of sessions that only read. No transaction outlives
// the call that began it, as an open one would keep the WAL from being emptied.
type readers struct {
	db     *sqlx.DB
	free   chan *session // as many slots as readers may be; nil ones are not connected yet
	closed chan struct{}
}

func newReaders(db *sqlx.DB) *readers {
	r := &readers{db: db, free: make(chan *session, maxReaders), closed: make(chan struct{})}
	for range maxReaders {
		r.free <- nil
	}
	return r
}

// view calls f with a session in which all that is read is of one moment.
func (r *readers) view(ctx context.Context, f func(*session) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var s *session
	select {
	case <-r.closed:
		return storage.ErrClosed
	default:
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.closed:
		return storage.ErrClosed
	case s = <-r.free:
	}
	defer func() { r.free <- s }()
	if s == nil {
		if s, err = newSession(ctx, r.db); err != nil {
			return err
		}
	}
	end := context.WithoutCancel(ctx) // or the transaction would outlive the call
	if err := s.run(end, "BEGIN"); err != nil {
		return err
	}
	return errors.Join(f(s), s.run(end, "ROLLBACK"))
}

// close waits for those who read.
func (r *readers) close() error {
	close(r.closed)
	var errs []error
	for range maxReaders {
		if s := <-r.free; s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(append(errs, r.db.Close())...)
}
