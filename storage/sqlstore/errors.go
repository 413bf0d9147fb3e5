package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
	// ErrOlder is returned by Open for a database that an older Ebb made and that
	// has to be brought to today's schema first: for a file with [ReadOnly], where
	// opening it for writing does that; for a server, where [Migrate] does.
	ErrOlder = errors.New("sqlstore: the database was made by an older Ebb")
	// ErrNoTables is returned by Open for a database on a server in which Ebb has no
	// tables yet: [Migrate] makes them.
	ErrNoTables = errors.New("sqlstore: the database has no tables of Ebb yet")
	// ErrReadOnly is returned by methods that write when the store was opened
	// with [ReadOnly].
	ErrReadOnly = errors.New("sqlstore: the store was opened for reading only")
	// ErrBroken is returned by methods that write after a commit, or a sync, failed
	// in a way that leaves unknown what is on the disk. The store stays readable;
	// what was acknowledged before is safe. Open the database anew to write again.
	ErrBroken = fmt.Errorf("sqlstore: %w after an I/O error: check the disk, then restart", storage.ErrBroken)
)

// codeOf returns SQLite's primary result code of an error, 0 when it has none.
func codeOf(err error) int {
	var e interface{ Code() int }
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// stateOf returns PostgreSQL's code of an error, "" when it has none.
func stateOf(err error) string {
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		return e.Code
	}
	return ""
}

// cut reports whether an error says that the connection was lost, or that there
// was none.
func cut(err error) bool {
	if state := stateOf(err); state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P") // of those who end a session
	}
	of, network := errors.AsType[net.Error](err)
	if _, system := of.(syscall.Errno); system { // which has the methods of a net.Error, also when it is a file's
		network = false
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return network || connecting || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || err != nil && err.Error() == "conn closed" // of pgx, which has no type for it
}

// ofDatabase reports whether an error is the database's, so that the transaction
// it came up in is of no use any more.
func ofDatabase(err error) bool { return codeOf(err) != 0 || stateOf(err) != "" || cut(err) }

// conflicts reports whether the database undid a transaction on account of
// another one: it is to be tried again.
func conflicts(err error) bool {
	switch stateOf(err) {
	case "40001", "40P01", // serialization failure, deadlock
		"23505": // of two who number something, the later
		return true
	default:
		return false
	}
}

// waits reports whether a write was not done as somebody else has locked what it writes.
func waits(err error) bool { return errors.Is(err, errHeld) || stateOf(err) == "55P03" }

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

// unsynced reports whether a sync failed.
func unsynced(err error) bool {
	var e interface{ Code() int }
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_IOERR_FSYNC || e.Code() == sqlite3.SQLITE_IOERR_DIR_FSYNC)
}

// undecided reports whether a COMMIT that failed so may have been done, or have
// been lost in part.
func undecided(err error) bool {
	if state := stateOf(err); state != "" && !cut(err) {
		return strings.HasPrefix(state, "58") || strings.HasPrefix(state, "XX") // trouble of the system, or inside PostgreSQL
	}
	switch codeOf(err) {
	case 0, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_INTERNAL:
		return true
	default:
		return false
	}
}

// misread reports whether a row is not what it should be, or a column of the
// schema is called otherwise. Most such errors have no types.
func misread(err error) bool {
	_, scan := errors.AsType[pgx.ScanArgError](err)
	text := err.Error()
	return scan || strings.Contains(text, "sql: Scan error") || strings.Contains(text, "missing destination name")
}

// failed says what failed where, in words of the operator, when err is the
// database's. Errors of package storage pass as they are.
func failed(file, what string, err error) error {
	var problem string
	switch codeOf(err) {
	case 0:
		if problem = troubleOf(err); problem != "" {
			return fmt.Errorf("sqlstore: %s: %s: %s: %w", file, what, problem, err)
		}
		if err != nil && misread(err) {
			return fmt.Errorf("sqlstore: %s: %s: %w: %w", file, what, storage.ErrCorrupt, err)
		}
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

// troubleOf says in words of the operator what is wrong with a server, "" when
// err does not tell.
func troubleOf(err error) string {
	state := stateOf(err)
	switch state {
	case "":
		if cut(err) && !errors.Is(err, context.DeadlineExceeded) {
			return "the server cannot be reached"
		}
		return ""
	case "28000", "28P01":
		return "the server does not let this user in: check user and password"
	case "3D000":
		return "there is no such database: make it with createdb"
	case lacksRights:
		return "the user lacks rights in the database"
	case "42P01": // which the catalog had
		return "a table is gone, or the user may not use its schema: GRANT USAGE ON SCHEMA"
	case "53100":
		return "the disk is full"
	case "53300":
		return "the server has no connection left: raise max_connections, or use fewer processes"
	case "57014":
		return "it took longer than statement_timeout lets it"
	case isLocked:
		return "another transaction keeps it locked: pg_stat_activity shows which"
	case "25006":
		return "the server takes no writes: is it a standby?"
	}
	if cut(err) {
		return "the server ended the connection"
	}
	return "the server refused it"
}
