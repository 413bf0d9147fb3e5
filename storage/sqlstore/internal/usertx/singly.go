package usertx

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5/stdlib"
)

// A Singly is a connection on which each text is one statement.
type Singly struct{ *stdlib.Conn }

// ExecContext implements driver.ExecerContext. Without arguments pgx would send
// the text as it is, in which there may be several.
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
