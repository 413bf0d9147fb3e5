package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
)

// maxReaders bounds the number of sessions that read at the same time.
const maxReaders = 4

// readers is a small pool of sessions that only read. No transaction outlives the call that began it: SQLite cannot
// empty the WAL while a transaction is open.
type readers struct {
	db      *sqlx.DB
	dialect *dialect
	free    chan *session // maxReaders sessions; a nil session is not connected yet
	closed  chan struct{}
	files   *dbfile.Site // checked before each read; nil on a server
}

func newReaders(db *sqlx.DB, d *dialect) *readers {
	r := &readers{db: db, dialect: d, free: make(chan *session, maxReaders), closed: make(chan struct{})}
	for range maxReaders {
		r.free <- nil
	}
	return r
}

// view calls f with a session that reads one snapshot. If f gets no answer because the connection was lost since its
// last use, view calls it again.
func (r *readers) view(ctx context.Context, f func(*session) error) error {
	return r.read(ctx, true, f)
}

// glance is view for one statement, which reads one snapshot without a transaction. That saves BEGIN and ROLLBACK,
// on a server a round trip each. f may be called twice.
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
	// Otherwise a process that only reads would not notice that nothing new will come. If the file was replaced,
	// closing a connection to the new file would copy this store's WAL into that file.
	if err := r.files.Check(); err != nil {
		return err
	}
	end := context.WithoutCancel(ctx) // otherwise the transaction would outlive the call
	known := s != nil
	if s, err = r.begin(ctx, end, s, moment); err != nil {
		return err
	}
	s.limits, s.moment = nil, time.Time{}
	err = f(s)
	if err != nil && known && s.Lost() && (!moment || !s.Heard()) && ctx.Err() == nil {
		// The connection may have been lost since its last use
		if s, err = r.begin(ctx, end, s, moment); err == nil {
			err = f(s)
		}
	}
	if s == nil || s.Lost() || !moment { // no transaction is open
		return err
	}
	return errors.Join(err, s.Rollback(end))
}

// begin begins a transaction on a session, or on a new session if the connection is known to be lost. On a server, a
// connection that was lost since its last use shows only at the first statement.
func (r *readers) begin(ctx, end context.Context, s *session, moment bool) (*session, error) {
	start := func() error {
		switch {
		case !moment:
			return nil
		case r.dialect.Posts: // a round trip less
			s.PostBegin(r.dialect.view)
			return nil
		default:
			return s.Run(end, r.dialect.view)
		}
	}
	if s != nil {
		if !s.Lost() {
			return s, start()
		}
		_ = s.Close()
	}
	s, err := newSession(ctx, r.db, r.dialect)
	if err != nil {
		return nil, err
	}
	if err := r.files.Check(); err != nil { // the file was replaced just now: never close the connection
		return nil, err
	}
	return s, start()
}

// close waits for calls that are reading.
func (r *readers) close() error {
	close(r.closed)
	if r.files.Taken() != nil {
		return nil //nolint:nilerr // the connections stay open
	}
	var errs []error
	replaced := r.files != nil && r.files.LogReplaced()
	for range maxReaders {
		if s := <-r.free; s != nil {
			if replaced {
				errs = append(errs, s.KeepLog())
			}
			lost := s.Lost() // a canceled call has closed the connection
			if err := s.Close(); !lost {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, r.db.Close())...)
}
