package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// now returns the time that measures leases. For a server it is the server's, the same within one transaction; for
// a file, this machine's.
func (s *session) now(ctx context.Context) (time.Time, error) {
	if !s.dialect.clock {
		return time.Now(), nil
	}
	if !s.moment.IsZero() {
		return s.moment, nil
	}
	var micros int64
	if err := s.Get(ctx, &micros, selectClock); err != nil {
		return time.Time{}, fmt.Errorf("read the server's clock: %w", err)
	}
	s.moment = time.UnixMicro(micros).UTC()
	return s.moment, nil
}

// micros returns the stored form of a time.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// orNow returns t, or the current time if t is zero.
func (d *dialect) orNow(t time.Time) time.Time {
	if t.IsZero() {
		return d.Now()
	}
	return t
}

// Now implements [backend.Lists.Now].
func (s *store) Now() time.Time { return s.dialect.Now() }

// moment is the stored form of a time.
type moment sql.NullInt64

// Scan implements sql.Scanner.
func (m *moment) Scan(v any) error { return (*sql.NullInt64)(m).Scan(v) }

// earliest returns the smallest time that a query finds after a time; zero if there is none. SQLite sorts what is no
// number behind all times.
func (s *session) earliest(ctx context.Context, query string, after time.Time) (time.Time, error) {
	var at moment
	err := corrupt(s.Get(ctx, &at, query, after.UnixMicro()))
	if s.dialect.damage.leftOut(err) {
		return time.Time{}, nil
	}
	return at.time(), err
}

func (m *moment) time() time.Time {
	if !m.Valid {
		return time.Time{}
	}
	return time.UnixMicro(m.Int64).UTC()
}
