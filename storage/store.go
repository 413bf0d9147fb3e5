package storage

import (
	"context"
	"database/sql"

	"github.com/ebbflow/ebb/atom"
)

// Store keeps runs. Its methods may be called by any number of goroutines.
// Errors that are none of this package's are the database's own: they say
// nothing about the run, and nothing was written unless they wrap ErrUnsure.
type Store interface {
	Reader
	Inbox
	Driver
	Limiter
	Suspects
	Owners
	Outbox
	Definitions
	Jobs
	Schedules

	// Purge deletes ended runs and all that belongs to them, but for what still
	// has to be sent. Runs that have not ended, or are owned, are left alone and
	// not counted.
	Purge(ctx context.Context, runs ...string) (int, error)
	// Close gives up all claims and ends the store's goroutines. Runs stay as
	// they were last committed; those it owned are due at once.
	Close() error
}

// A WriteChecker is a store that can find out whether it can write. Stores on a
// database are.
type WriteChecker interface {
	// CheckWrite commits a small write that has no visible effect. It gives up when ctx
	// ends. Its error names the obstacle, such as another process that has the turn to
	// write.
	CheckWrite(ctx context.Context) error
}

// A Transactor is a store in whose database users may have tables of their own,
// and write them in one transaction with the record that they did. Stores on a
// database are; the one in memory is not.
type Transactor interface {
	// Transact calls fn with a transaction in which the claim was checked, and
	// commits the writes of fn together with its result, under the run and key. If
	// that key was committed before, Transact returns that result and does not call fn.
	// So after a crash at any point, the writes of fn exist exactly if their record
	// does, and calling Transact again with the same key applies them once.
	//
	// An error of fn rolls all back and is returned as it is; a panic rolls all
	// back and goes on. It returns ErrFenced when the claim is void; ErrInvalid
	// when the key is empty or longer than MaxKey, or fn ended the transaction
	// itself, which undoes everything; [atom.ErrValueTooLarge] for a result above
	// [atom.MaxValue]; the error of ctx when that ended before fn did; and
	// ErrUnsure when the answer of the COMMIT was lost: call it again, the key
	// tells.
	//
	// The transaction is alone: fn holds up all other writers of the database
	// (on SQLite, every run), so it must be quick, wait for nothing outside, and
	// not call the store. A deadline of ctx bounds it. fn may be called again when
	// the database was busy. It must leave the tables of Ebb alone.
	Transact(ctx context.Context, claim Claim, key string, fn func(tx *sql.Tx) (atom.Value, error)) (atom.Value, error)
}
