package storage

import (
	"context"
	"database/sql"
)

// A Store is a database of runs and of a program's own records, opened by sqlstore.Open or memstore.New. Any number of
// goroutines may call its methods at the same time. Only Ebb implements it.
type Store interface {
	Reader
	NamedRecords
	// Close releases all claims and stops the store's goroutines. The runs that this process drove are due at once, in
	// the state of their last commit.
	Close() error
}

// A UserTx is a transaction of a user on the store's database: a *[sql.Tx], or a transaction of pgx by sqlstore.Pgx.
type UserTx interface {
	// ExecContext executes a statement in the transaction.
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	// Rollback ends the transaction. Ebb does not call it; a *[sql.DB] does not have it.
	Rollback() error
}
