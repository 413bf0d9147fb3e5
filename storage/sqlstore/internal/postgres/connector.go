package postgres

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// Other processes may use all of a server's connections for a moment, as when a new version of a program replaces one.
//
//limit:storage wait for a connection that a PostgreSQL server has none left of | {crowded} | the call fails
const crowded = 5 * time.Second

// A connector makes connections as [Patiently] does.
type connector struct{ driver.Connector }

// Connect implements [driver.Connector].
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	return Patiently(ctx, c.Connector.Connect)
}

// Patiently makes a connection. If the server has none left, it tries again for a while, until the context is done.
func Patiently[Conn any](ctx context.Context, connect func(context.Context) (Conn, error)) (Conn, error) {
	over := time.NewTimer(crowded)
	defer over.Stop()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		conn, err := connect(ctx)
		if dberr.State(err) != dberr.NoConnectionLeft {
			return conn, err
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
			continue
		case <-over.C:
		case <-ctx.Done():
		}
		again.Stop()
		return conn, err
	}
}
