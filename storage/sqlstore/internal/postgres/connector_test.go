package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// A busyServer refuses connections with a code until a time.
type busyServer struct {
	driver.Connector
	code  string
	until time.Time
	asked int
}

func (b *busyServer) Connect(context.Context) (driver.Conn, error) {
	b.asked++
	if time.Now().Before(b.until) {
		return nil, &pgconn.PgError{Code: b.code}
	}
	return nil, nil //nolint:nilnil // no use is made of the connection
}

// TestNoConnectionLeft shows how long a call waits for a connection of a server that has none left, and that it does not
// wait if it is refused for another reason or is canceled.
func TestNoConnectionLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code          string
		free, cancel, waits time.Duration
		asked               int
		fails               bool
	}{
		{name: "another's connection ends", code: dberr.NoConnectionLeft, free: 2 * time.Second, waits: 2260 * time.Millisecond, asked: 8},
		{name: "none ends", code: dberr.NoConnectionLeft, free: time.Hour, waits: crowded, asked: 10, fails: true},
		{name: "canceled", code: dberr.NoConnectionLeft, free: time.Hour, cancel: time.Second, waits: time.Second, asked: 6, fails: true},
		{name: "wrong password", code: "28P01", free: time.Hour, asked: 1, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, began := t.Context(), time.Now()
				if c.cancel > 0 {
					bounded, cancel := context.WithTimeout(ctx, c.cancel)
					defer cancel()
					ctx = bounded
				}
				server := &busyServer{code: c.code, until: began.Add(c.free)}
				_, err := connector{server}.Connect(ctx)
				if waited := time.Since(began); (err != nil) != c.fails || waited != c.waits || server.asked != c.asked {
					t.Errorf("after %v and %d tries: %v", waited, server.asked, err)
				}
				if e, is := errors.AsType[*pgconn.PgError](err); c.fails && (!is || e.Code != c.code) {
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}
