package usertx

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5/stdlib"
)

// A Singly is a connection that executes each text as exactly one statement.
type Singly struct{ *stdlib.Conn }

// ExecContext implements driver.ExecerContext. Without arguments pgx would send the text unchanged, which may
// contain several statements.
func (c Singly) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) > 0 {
		return c.Conn.ExecContext(ctx, query, args)
	}
	rows, err := c.Conn.Conn().Query(ctx, query)
	if err != nil {
		return nil, err
	}
	rows.Close()
	return driver.RowsAffected(rows.CommandTag().RowsAffected()), rows.Err()
}
