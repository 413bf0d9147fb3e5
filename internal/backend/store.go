package backend

import (
	"context"
	"database/sql"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// Store keeps runs. Any number of goroutines may call its methods at the same time. If an error wraps none of the
// errors of package storage, it comes from the database and says nothing about the run. Unless an error wraps
// ErrUnsure, the call wrote nothing.
type Store interface {
	Reader
	Inbox
	Waiting
	Driver
	Limiter
	CrashLoops
	Owners
	Outbox
	Definitions
	storage.NamedRecords
	Jobs
	Schedules
	Audits
	Purger

	// Close releases all claims and stops the store's goroutines. The runs that the store's owner drove are due at
	// once, in the state of their last commit.
	Close() error
}

// Purger is the part of a [Store] that deletes runs.
type Purger interface {
	// Purge deletes runs that have ended, with all records that belong to them, and returns how many runs it
	// deleted. Messages that a run still has to send stay. Purge skips runs that have not ended, have an owner, or
	// still have to return a message to its sender, see [MessageReceipt].
	Purge(ctx context.Context, runs ...string) (int, error)
	// Discard deletes runs in any state, with their jobs and all records that belong to them, and returns how many runs
	// it deleted. The next write of the owner of such a run returns ErrNotFound, or ErrFenced if there is another
	// run with the id. Discard is for emulators, which begin anew between tests.
	Discard(ctx context.Context, runs ...string) (int, error)
}

// A WriteChecker is a store that can check whether it is able to write. Stores on a database are WriteCheckers.
type WriteChecker interface {
	// CheckWrite commits a small write that has no visible effect. It gives up when ctx ends. Its error names the
	// obstacle, such as another process that is writing.
	CheckWrite(ctx context.Context) error
}

// WriteBars is a store that knows, without a write, whether its database takes writes. Stores on a database are
// WriteBars.
type WriteBars interface {
	// Barred returns why nobody can write to the database, such as: it is a standby; "" if nothing is known to prevent it.
	Barred(ctx context.Context) (why string, err error)
}

// A Transactor is a store in which users can write tables of their own in one transaction with Ebb's record of that
// write. Stores on a database are Transactors. The store in memory is not.
type Transactor interface {
	// Transact checks the claim, calls fn with the transaction, and commits the writes of fn together with its
	// result, under the run and key. If that key was committed before, Transact returns the stored result and does
	// not call fn. Therefore, after a crash at any point, either both the writes of fn and their record exist, or
	// neither does. Calling Transact again with the same key applies the writes once.
	//
	// If fn returns an error, Transact rolls everything back and returns that error. If fn panics, Transact rolls
	// everything back and panics again. It returns these errors:
	//
	//   - ErrFenced if the claim is void
	//   - ErrInvalid if the key is empty or longer than MaxKey, or if fn ended the transaction itself; nothing is
	//     kept
	//   - [atom.ErrValueTooLarge] if the result is larger than [atom.MaxValue]
	//   - the error of ctx if ctx ended before fn returned
	//   - ErrUnsure if the answer to the COMMIT was lost; call Transact again with the same key
	//
	// No other write runs during the transaction: fn blocks all other writers of the database, on SQLite every run.
	// Therefore, fn must be quick, must not wait for anything outside, and must not call the store. A deadline of
	// ctx bounds it. If the database is busy, Transact may call fn again. fn must not write Ebb's own tables.
	Transact(ctx context.Context, claim Claim, key string, fn func(tx *sql.Tx) (atom.Value, error)) (atom.Value, error)
}
