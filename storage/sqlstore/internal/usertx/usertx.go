// Package usertx lends an open transaction to a function of the user, which may do anything except end the
// transaction.
package usertx

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"

	"modernc.org/sqlite"
)

// A hosted is a driver whose only connection is lent. Its own BEGIN does nothing, and its COMMIT and ROLLBACK only
// record that they were called. If the function executes COMMIT as a statement, SQLite turns it into a ROLLBACK.
type hosted struct {
	conn  Conn
	ended atomic.Bool
	admit func() error // called before each statement; nil admits all
}

// A Conn has the methods of both drivers' connections that this package uses.
type Conn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

var (
	_ driver.Connector   = (*hosted)(nil)
	_ driver.ConnBeginTx = (*hosted)(nil)
	_ driver.Tx          = (*hosted)(nil)
)

// Host calls f with a transaction on the connection, and reports whether f ended it. It calls admit before each
// statement; nil admits all statements.
func Host(ctx context.Context, conn Conn, admit func() error, f func(*sql.Tx) error) (ended bool, err error) {
	g := &hosted{conn: conn, admit: admit}
	db := sql.OpenDB(g)
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // closes the statements and rows that f left open
	err = f(tx)
	return g.ended.Load(), err
}

// Connect implements driver.Connector.
func (g *hosted) Connect(context.Context) (driver.Conn, error) { return g, nil }

// Driver implements driver.Connector.
func (g *hosted) Driver() driver.Driver { return &sqlite.Driver{} }

// PrepareContext implements driver.ConnPrepareContext.
func (g *hosted) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := g.admits(); err != nil {
		return nil, err
	}
	return g.conn.PrepareContext(ctx, query)
}

// Prepare implements driver.Conn.
func (g *hosted) Prepare(query string) (driver.Stmt, error) {
	return g.PrepareContext(context.Background(), query)
}

func (g *hosted) admits() error {
	if g.admit == nil {
		return nil
	}
	return g.admit()
}

// ExecContext implements driver.ExecerContext.
func (g *hosted) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := g.admits(); err != nil {
		return nil, err
	}
	return g.conn.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (g *hosted) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := g.admits(); err != nil {
		return nil, err
	}
	return g.conn.QueryContext(ctx, query, args)
}

// Begin implements driver.Conn.
func (g *hosted) Begin() (driver.Tx, error) { return g, nil }

// BeginTx implements driver.ConnBeginTx.
func (g *hosted) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return g, nil }

// Commit implements driver.Tx.
func (g *hosted) Commit() error {
	g.ended.Store(true)
	return errors.New("sqlstore: " + MustNotEnd)
}

// Rollback implements driver.Tx.
func (g *hosted) Rollback() error {
	g.ended.Store(true)
	return nil
}

// Close implements driver.Conn. The connection stays open.
func (g *hosted) Close() error { return nil }

// MustNotEnd is the message for a function that ended its transaction.
const MustNotEnd = "the function ended the transaction, which belongs to Ebb: leave out Commit, Rollback, BEGIN, " +
	"COMMIT and ROLLBACK"
