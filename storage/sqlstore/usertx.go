package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"

	"modernc.org/sqlite"
)

// A userTx lends the session's connection to a user's function. The function may do
// anything in the open transaction but end it: its own BEGIN does nothing, and its
// COMMIT and ROLLBACK only record that it called them. If it executes COMMIT as a
// statement, SQLite makes a ROLLBACK of it.
type userTx struct {
	conn  driverConn
	ended atomic.Bool
	admit func() error // asked before each statement; nil admits all
}

// driverConn is what the driver's connections can do and a userTx may use.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

var (
	_ driver.Connector   = (*userTx)(nil)
	_ driver.ConnBeginTx = (*userTx)(nil)
	_ driver.Tx          = (*userTx)(nil)
)

// lend calls f with a transaction of database/sql that stands for the one which
// is open on the session, and reports whether f ended it. Nothing that f keeps
// can be used afterwards.
func (s *session) lend(ctx context.Context, f func(*sql.Tx) error) (ended bool, err error) {
	if err := s.flush(ctx); err != nil {
		return false, err
	}
	if s.dialect.posts {
		return s.lendServer(ctx, f)
	}
	g := &userTx{}
	var hooks sqlite.HookRegisterer
	err = s.conn.Raw(func(conn any) error {
		hooks, _ = conn.(sqlite.HookRegisterer)
		g.conn, _ = conn.(driverConn)
		if g.conn == nil || hooks == nil {
			return errors.New("sqlstore: the driver has no hooks: was its version changed?")
		}
		hooks.RegisterCommitHook(func() int32 { return 1 })
		return nil
	})
	if err != nil {
		return false, err
	}
	defer func() {
		err = errors.Join(err, s.conn.Raw(func(any) error {
			hooks.RegisterCommitHook(nil)
			return nil
		}))
	}()
	return g.host(ctx, f)
}

// host calls f with a transaction in which all that it does is the user's.
func (g *userTx) host(ctx context.Context, f func(*sql.Tx) error) (ended bool, err error) {
	db := sql.OpenDB(g)
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }() // which ends what f left open; done already if f did it
	err = f(tx)
	return g.ended.Load(), err
}

// Connect implements driver.Connector.
func (g *userTx) Connect(context.Context) (driver.Conn, error) { return g, nil }

// Driver implements driver.Connector.
func (g *userTx) Driver() driver.Driver { return &sqlite.Driver{} }

// PrepareContext implements driver.ConnPrepareContext.
func (g *userTx) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := g.admits(); err != nil {
		return nil, err
	}
	return g.conn.PrepareContext(ctx, query)
}

// Prepare implements driver.Conn.
func (g *userTx) Prepare(query string) (driver.Stmt, error) {
	return g.PrepareContext(context.Background(), query)
}

func (g *userTx) admits() error {
	if g.admit == nil {
		return nil
	}
	return g.admit()
}

// ExecContext implements driver.ExecerContext.
func (g *userTx) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := g.admits(); err != nil {
		return nil, err
	}
	return g.conn.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (g *userTx) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := g.admits(); err != nil {
		return nil, err
	}
	return g.conn.QueryContext(ctx, query, args)
}

// Begin implements driver.Conn.
func (g *userTx) Begin() (driver.Tx, error) { return g, nil }

// BeginTx implements driver.ConnBeginTx.
func (g *userTx) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return g, nil }

// Commit implements driver.Tx.
func (g *userTx) Commit() error {
	g.ended.Store(true)
	return errors.New("sqlstore: " + mustNotEndIt)
}

// Rollback implements driver.Tx.
func (g *userTx) Rollback() error {
	g.ended.Store(true)
	return nil
}

// Close implements driver.Conn. The connection stays open.
func (g *userTx) Close() error { return nil }
