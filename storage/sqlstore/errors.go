package sqlstore

import (
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ebbflow/ebb/storage"
)

var (
	// ErrForeign is returned by Open for a file that is no database, or another
	// program's. Nothing in it was changed.
	ErrForeign = errors.New("sqlstore: not a database of Ebb")
	// ErrNewer is returned by Open for a database that a newer Ebb made. Nothing
	// in it was changed.
	ErrNewer = errors.New("sqlstore: the database was made by a newer Ebb")
	// ErrReadOnly is returned by methods that write when the store was opened
	// with [ReadOnly].
	ErrReadOnly = errors.New("sqlstore: the store was opened for reading only")
	// ErrBroken is returned by methods that write after a commit failed in a way
	// that leaves unknown what is on the disk. The store stays readable; what was
	// acknowledged before is safe. Open the database anew to write again.
	ErrBroken = errors.New("sqlstore: closed for writing after an I/O error at commit: check the disk, then restart")
)

// codeOf returns SQLite's primary result code of an error, 0 when it has none.
func codeOf(err error) int {
	var e interface{ Code() int }
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// busy reports whether the database was locked by another connection.
func busy(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// unwritable reports whether a file or its folder could not be written.
func unwritable(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN
}

// undecided reports whether a COMMIT that failed so may have been done, or have
// been lost in part.
func undecided(err error) bool {
	switch codeOf(err) {
	case 0, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_INTERNAL:
		return true
	default:
		return false
	}
}

// failed says what failed where, in words of the operator, when err is the
// database's. Errors of package storage pass as they are.
func failed(file, what string, err error) error {
	var problem string
	switch codeOf(err) {
	case 0:
		return err
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		problem = "another program keeps it locked"
	case sqlite3.SQLITE_FULL:
		problem = "the disk is full"
	case sqlite3.SQLITE_IOERR:
		problem = "I/O error"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("sqlstore: %s: %s: %w: %w", file, what, storage.ErrCorrupt, err)
	case sqlite3.SQLITE_READONLY:
		problem = "the file or its folder cannot be written"
	case sqlite3.SQLITE_CANTOPEN:
		problem = "the file or its folder cannot be opened"
	case sqlite3.SQLITE_INTERRUPT:
		problem = "interrupted"
	default:
		return fmt.Errorf("sqlstore: %s: %s: %w", file, what, err)
	}
	return fmt.Errorf("sqlstore: %s: %s: %s: %w", file, what, problem, err)
}
