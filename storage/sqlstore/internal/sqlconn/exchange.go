package sqlconn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// On a server, round trips take most of the time. Therefore, all posted statements are sent in one round trip with
// the next statement that needs an answer.

// ask sends a query and reads its answer.
func (c *Conn) ask(ctx context.Context, query string, args []any, read func(*answer) error) error {
	return c.exchange(ctx, &queued{query: query, args: args, read: read}, false)
}

// exchange sends the posted statements, and then last unless it is nil. If a posted statement fails, exchange
// returns that error now and until the transaction ends, which can only be rolled back. If seals is true, last is
// the COMMIT. The posted statements must then be sealable, so that an error keeps the server from committing.
func (c *Conn) exchange(ctx context.Context, last *queued, seals bool) error {
	if c.Wrong != nil || len(c.posted) == 0 && last == nil {
		return c.Wrong
	}
	batch := c.posted
	c.posted = c.posted[:0]
	defer clear(batch)
	ctx, cancel := c.limit(ctx)
	defer cancel()
	var own error
	c.Wrong = c.raw(func(conn *pgx.Conn) (err error) {
		all := c.dialect.pipeline(batch, seals, c.Many)
		before := len(all)
		if last != nil {
			all = append(all, c.dialect.asRows(last))
		}
		results := send(ctx, conn, all)
		defer func() {
			// Otherwise Close returns an error that was already reported.
			if again := results.Close(); own == nil && err == nil {
				err = again
			}
		}()
		for _, p := range all[:before] {
			if err := p.take(results, seals); err != nil {
				return err
			}
		}
		if last != nil {
			own = last.take(results, false)
		}
		return nil
	})
	c.heard = c.heard || c.Wrong == nil && own == nil
	if c.Wrong != nil {
		return c.Wrong
	}
	return own
}

// take reads the answer to the statement. If sure is true, the server has already applied the check.
func (p *queued) take(results pgx.BatchResults, sure bool) error {
	if p.read != nil {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		defer rows.Close()
		return p.read(&answer{rows})
	}
	tag, err := results.Exec()
	switch {
	case p.check == nil, err == nil && sure:
		return err
	case dberr.State(err) == divisionByZero:
		return p.check(0)
	case err != nil:
		return err
	}
	return p.check(tag.RowsAffected())
}

// An answer contains the rows that a query has selected, in the form that sqlx reads.
type answer struct{ pgx.Rows }

// Close closes the rows.
func (a *answer) Close() error {
	a.Rows.Close()
	return a.Err()
}

// Columns returns the names of the columns.
func (a *answer) Columns() ([]string, error) {
	fields := a.FieldDescriptions()
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names, nil
}

// all reads all rows into the slice dest.
func (a *answer) all(dest any) error {
	into := reflect.ValueOf(dest).Elem()
	if of := into.Type().Elem(); !ofColumns(of) {
		into.SetLen(0)
		for a.Next() {
			value := reflect.New(of)
			if err := a.Scan(value.Interface()); err != nil {
				return err
			}
			into.Set(reflect.Append(into, value.Elem()))
		}
		return a.Err()
	}
	return sqlx.StructScan(a, dest)
}

// one reads one row into dest. If there is no row, it returns storage.ErrNotFound.
func (a *answer) one(dest any) error {
	into := reflect.ValueOf(dest).Elem()
	rows := reflect.New(reflect.SliceOf(into.Type()))
	if err := a.all(rows.Interface()); err != nil {
		return err
	}
	if rows.Elem().Len() == 0 {
		return storage.ErrNotFound
	}
	into.Set(rows.Elem().Index(0))
	return nil
}

// ofColumns reports whether a value of the type is read from several columns.
func ofColumns(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
}

// send sends statements together, and returns their answers.
func send(ctx context.Context, conn *pgx.Conn, all []queued) pgx.BatchResults {
	var batch pgx.Batch
	for _, p := range all {
		batch.Queue(p.query, p.args...)
	}
	return conn.SendBatch(ctx, &batch)
}

// raw calls f with the driver's own connection.
func (c *Conn) raw(f func(*pgx.Conn) error) error {
	return c.SQL.Raw(func(conn any) error {
		raw, is := conn.(*stdlib.Conn)
		if !is || raw.Conn().IsClosed() {
			return driver.ErrBadConn
		}
		return f(raw.Conn())
	})
}

// Lost reports whether the connection was lost. A nil Conn is one that never connected.
func (c *Conn) Lost() bool {
	if c == nil {
		return true
	}
	if !c.dialect.Posts {
		return false
	}
	lost := true
	err := c.SQL.Raw(func(conn any) error {
		raw, is := conn.(*stdlib.Conn)
		lost = !is || raw.Conn().IsClosed()
		return nil
	})
	return lost || err != nil
}

// Sealable reports whether all posted statements can be sent together with the COMMIT: the server can apply every
// check itself.
func (c *Conn) Sealable() bool {
	for _, p := range c.posted {
		if p.check != nil && c.dialect.Forms[p.query].Sure == "" {
			return false
		}
	}
	return c.Wrong == nil && len(c.posted) > 0
}

const divisionByZero = "22012"
