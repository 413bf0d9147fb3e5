// Package sqlconn runs statements on one connection to SQLite or PostgreSQL. On SQLite it calls the driver's
// prepared statements without the cost of database/sql. On PostgreSQL it sends statements together, so that a
// transaction needs few round trips.
package sqlconn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"github.com/ebbflow/ebb/storage"
)

// A Dialect describes how a connection works with its database.
type Dialect struct {
	Posts    bool            // send statements together, because a round trip takes long: PostgreSQL
	Patience time.Duration   // how long the connection waits for one answer; 0 means without limit
	Forms    map[string]Form // statements that write many rows, by text
}

// A Conn is a connection and the statements that it has prepared. Only one goroutine may use it at a time.
type Conn struct {
	SQL     *sqlx.Conn // for statements that are not prepared
	Many    bool       // several writes share this transaction
	Changed int64      // rows that this transaction has changed
	Pages   int64      // estimate of the WAL pages written so far
	Written int64      // size in bytes of the arguments of statements that changed rows
	Wrong   error      // first error of a posted statement: the transaction can only be rolled back

	dialect  *Dialect
	prepared map[string]*sqlx.Stmt
	direct   map[string]directStmt // on SQLite: the statements of Post
	values   []driver.NamedValue   // arguments of the statement that is running
	args     []any                 // see EmptyArgs
	posted   []queued              // statements to send with the next statement that needs an answer
	heard    bool                  // the database has answered in this transaction
}

// A directStmt is a prepared statement of the driver.
type directStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

var errDriver = errors.New("sqlstore: the driver has no prepared statements: check its version")

// New connects to the database.
func New(ctx context.Context, db *sqlx.DB, d *Dialect) (*Conn, error) {
	conn, err := db.Connx(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{SQL: conn, dialect: d, prepared: map[string]*sqlx.Stmt{}, direct: map[string]directStmt{}}, nil
}

// Close closes the connection. A nil Conn is one that never connected.
func (c *Conn) Close() error {
	if c == nil {
		return nil
	}
	var errs []error
	for _, stmt := range c.prepared {
		errs = append(errs, stmt.Close())
	}
	for _, stmt := range c.direct {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.SQL.Close())...)
}

// KeepLog keeps SQLite from deleting the WAL when the last connection is closed: the name may belong to another
// database's WAL now, which SQLite would delete.
func (c *Conn) KeepLog() error {
	return c.SQL.Raw(func(conn any) error {
		raw, controls := conn.(sqlite.FileControl)
		if !controls {
			return errDriver
		}
		_, err := raw.FileControlPersistWAL("main", 1)
		return err
	})
}

// stmt sends the posted statements and returns the prepared statement, which lives as long as the connection. If a
// LIMIT is a bare parameter, SQLite prepares the statement again for each use: write LIMIT $1 + 0.
func (c *Conn) stmt(ctx context.Context, query string) (*sqlx.Stmt, error) {
	if err := c.Flush(ctx); err != nil {
		return nil, err
	}
	if stmt, there := c.prepared[query]; there {
		return stmt, nil
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	stmt, err := c.SQL.PreparexContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.prepared[query] = stmt
	return stmt, nil
}

// limit bounds how long the connection waits for an answer of a server, which may never arrive.
func (c *Conn) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.dialect.Patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.dialect.Patience)
}

// Exec runs a statement and returns how many rows it changed.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if c.dialect.Posts {
		var rows int64
		err := c.exchange(ctx, &queued{query: query, args: args, check: func(n int64) error { rows = n; return nil }}, false)
		c.Count(rows, args)
		return rows, err
	}
	before := c.Changed
	err := c.Post(ctx, nil, query, args...)
	return c.Changed - before, err
}

// number is Get for a query on SQLite that returns one row with an integer. If there is no row, number returns
// storage.ErrNotFound. It does not watch ctx: the goroutine with which the driver would watch ctx costs more than
// the statement.
func (c *Conn) number(ctx context.Context, query string, args []any) (n int64, err error) {
	stmt, err := c.bind(ctx, query, args)
	if err != nil {
		return 0, err
	}
	defer func() { clear(c.values) }()
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), c.values)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var row [1]driver.Value
	switch err := rows.Next(row[:]); {
	case errors.Is(err, io.EOF):
		return 0, storage.ErrNotFound
	case err != nil:
		return 0, err
	}
	n, is := row[0].(int64)
	if !is {
		return 0, fmt.Errorf("%w: %v is not an integer: %s", storage.ErrCorrupt, row[0], query)
	}
	return n, nil
}

// bind returns the driver's prepared statement for a query on SQLite, and puts the arguments into c.values.
func (c *Conn) bind(ctx context.Context, query string, args []any) (directStmt, error) {
	stmt, there := c.direct[query]
	if !there {
		var err error
		if stmt, err = c.prepareDirect(ctx, query); err != nil {
			return nil, err
		}
		c.direct[query] = stmt
	}
	c.values = c.values[:0]
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, fmt.Errorf("argument %d of %s: %w", i+1, query, err)
		}
		c.values = append(c.values, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return stmt, nil
}

func (c *Conn) prepareDirect(ctx context.Context, query string) (stmt directStmt, err error) {
	err = c.SQL.Raw(func(conn any) error {
		raw, prepares := conn.(driver.ConnPrepareContext)
		if !prepares {
			return errDriver
		}
		made, err := raw.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		if stmt, prepares = made.(directStmt); !prepares {
			return errors.Join(errDriver, made.Close())
		}
		return nil
	})
	return stmt, err
}

// Count counts the rows and bytes that a statement wrote.
func (c *Conn) Count(rows int64, args []any) {
	if rows == 0 {
		return
	}
	c.Changed += rows
	c.Pages += rows
	for _, arg := range args {
		switch arg := arg.(type) {
		case []byte:
			c.Pages += int64(len(arg) / PageSize)
			c.Written += int64(len(arg))
		case string:
			c.Written += int64(len(arg))
		default:
			c.Written += 8
		}
	}
}

// Insert runs a statement of SQLite that inserts at most one row. It returns the number of rows, and the row's own
// number.
func (c *Conn) Insert(ctx context.Context, query string, args ...any) (rows, number int64, err error) {
	res, err := c.execute(ctx, query, args)
	if err != nil {
		return 0, 0, err
	}
	if rows, err = res.RowsAffected(); err != nil || rows == 0 {
		return 0, 0, err
	}
	c.Count(rows, args)
	number, err = res.LastInsertId()
	return rows, number, err
}

// execute runs a statement on SQLite, on the driver's connection.
func (c *Conn) execute(ctx context.Context, query string, args []any) (driver.Result, error) {
	stmt, err := c.bind(ctx, query, args)
	if err != nil {
		return nil, err
	}
	res, err := stmt.ExecContext(ctx, c.values)
	clear(c.values) // so that the values can be collected
	return res, err
}

// PageSize is SQLite's default page size in bytes.
const PageSize = 4096

// Post runs a statement without waiting for its result. If the round trip to the database is long, Post sends the
// statement with the next one that needs an answer, or with the COMMIT. Only that call returns the statement's
// error, or the error of check, which may be nil. The arguments must not change until then.
//
// On SQLite, Post uses the driver's connection directly. Package database/sql would look for a free connection and
// allocate the arguments each time, and SQLite's statements are most of the cost of a run.
func (c *Conn) Post(ctx context.Context, check func(rows int64) error, query string, args ...any) error {
	if c.dialect.Posts {
		c.posted = append(c.posted, queued{query: query, args: args, check: check})
		c.Count(1, args) // the real number of rows is unknown until the answer
		return nil
	}
	res, err := c.execute(ctx, query, args)
	if err != nil {
		return err
	}
	rows, err := res.RowsAffected()
	c.Count(rows, args)
	if err == nil && check != nil {
		err = check(rows)
	}
	return err
}

// EmptyArgs returns an empty list for the arguments of one posted statement. On SQLite it is the same list each
// time, because Post runs the statement before it returns.
func (c *Conn) EmptyArgs() []any {
	if c.dialect.Posts || c.args == nil {
		c.args = make([]any, 0, 40)
	}
	return c.args
}

// Run runs a statement that changes no rows, such as BEGIN. For such a statement SQLite reports the number of rows
// that the previous statement changed, so Run ignores it.
func (c *Conn) Run(ctx context.Context, query string) error {
	if c.dialect.Posts {
		return c.exchange(ctx, &queued{query: query}, false)
	}
	_, err := c.execute(ctx, query, nil)
	return err
}

// Get reads one row into dest. If there is no row, it returns storage.ErrNotFound.
func (c *Conn) Get(ctx context.Context, dest any, query string, args ...any) error {
	if n, is := dest.(*int64); is && !c.dialect.Posts {
		found, err := c.number(ctx, query, args)
		if err == nil {
			*n = found
		}
		return err
	}
	if c.dialect.Posts {
		return c.ask(ctx, query, args, func(rows *answer) error { return rows.one(dest) })
	}
	stmt, err := c.stmt(ctx, query)
	if err != nil {
		return err
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	err = stmt.GetContext(ctx, dest, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return storage.ErrNotFound
	}
	return err
}

// All reads all rows into the slice dest.
func (c *Conn) All(ctx context.Context, dest any, query string, args ...any) error {
	if c.dialect.Posts {
		return c.ask(ctx, query, args, func(rows *answer) error { return rows.all(dest) })
	}
	stmt, err := c.stmt(ctx, query)
	if err != nil {
		return err
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	return stmt.SelectContext(ctx, dest, args...)
}

// Once is All for a statement that is built for one use. It does not prepare the statement.
func (c *Conn) Once(ctx context.Context, dest any, query string, args ...any) error {
	if c.dialect.Posts {
		return c.All(ctx, dest, query, args...)
	}
	return c.SQL.SelectContext(ctx, dest, query, args...)
}

// Each calls f for each row until it returns false or an error.
func (c *Conn) Each(ctx context.Context, query string, args []any, f func(*sqlx.Rows) (bool, error)) (err error) {
	stmt, err := c.stmt(ctx, query)
	if err != nil {
		return err
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	rows, err := stmt.QueryxContext(ctx, args...)
	if err != nil {
		return err
	}
	return each(rows, f)
}

// EachOnce is Each for a statement that is built for one use. It does not prepare the statement.
func (c *Conn) EachOnce(ctx context.Context, query string, args []any, f func(*sqlx.Rows) (bool, error)) error {
	if err := c.Flush(ctx); err != nil {
		return err
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	rows, err := c.SQL.QueryxContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return each(rows, f)
}

func each(rows *sqlx.Rows, f func(*sqlx.Rows) (bool, error)) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		more, err := f(rows)
		if err != nil || !more {
			return err
		}
	}
	return rows.Err()
}
