package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage"
)

// maxReaders is how many may read at the same time.
const maxReaders = 4

// readers is a small pool of sessions that only read. No transaction outlives
// the call that began it, as an open one would keep the WAL from being emptied.
type readers struct {
	db      *sqlx.DB
	dialect *dialect
	free    chan *session // as many slots as readers may be; nil ones are not connected yet
	closed  chan struct{}
	files   *site // which are looked at before a new connection is used; nil for none
}

func newReaders(db *sqlx.DB, d *dialect) *readers {
	r := &readers{db: db, dialect: d, free: make(chan *session, maxReaders), closed: make(chan struct{})}
	for range maxReaders {
		r.free <- nil
	}
	return r
}

// view calls f with a session in which all that is read is of one moment.
func (r *readers) view(ctx context.Context, f func(*session) error) error {
	return r.read(ctx, true, f)
}

// glance is view for one statement, which is of one moment by itself: it saves two of
// three, on a server each a round trip. f may be called twice.
func (r *readers) glance(ctx context.Context, f func(*session) error) error {
	return r.read(ctx, false, f)
}

func (r *readers) read(ctx context.Context, moment bool, f func(*session) error) (err error) {
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
	end := context.WithoutCancel(ctx) // or the transaction would outlive the call
	known := s != nil
	if s, err = r.begin(ctx, end, s, moment); err != nil {
		return err
	}
	s.limits, s.moment = nil, time.Time{}
	err = f(s)
	if err != nil && !moment && known && s.lost() && ctx.Err() == nil { // since it was used last, perhaps
		if s, err = r.begin(ctx, end, s, moment); err == nil {
			err = f(s)
		}
	}
	if s == nil || s.lost() || !moment { // it could not be connected anew
		return err
	}
	return errors.Join(err, s.run(end, "ROLLBACK"))
}

// begin begins a transaction on a session, or on a new one when its connection
// was lost since it was used last; without a transaction that shows only in use.
func (r *readers) begin(ctx, end context.Context, s *session, moment bool) (*session, error) {
	if s != nil {
		var err error
		if moment {
			err = s.run(end, r.dialect.view)
		}
		if !s.lost() {
			return s, err
		}
		_ = s.close()
	}
	// A connection to another file would, when it is closed, copy this store's log into it.
	if err := r.files.check(); err != nil {
		return nil, err
	}
	s, err := newSession(ctx, r.db, r.dialect)
	if err == nil {
		if err := r.files.check(); err != nil { // just now: the connection is never closed
			return nil, err
		}
	}
	if err != nil || !moment {
		return s, err
	}
	return s, s.run(end, r.dialect.view)
}

// close waits for the calls that read.
func (r *readers) close() error {
	close(r.closed)
	var errs []error
	replaced := r.files != nil && r.files.logReplaced()
	for range maxReaders {
		if s := <-r.free; s != nil {
			if replaced {
				errs = append(errs, s.keepLog())
			}
			lost := s.lost() // with a call that was cancelled; then there is nothing to close
			if err := s.close(); !lost {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, r.db.Close())...)
}
