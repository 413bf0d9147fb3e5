// Package dberr tells what the errors of both databases mean, and says it in words of the
// operator.
package dberr

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

// Code returns SQLite's primary result code of an error, 0 when it has none.
func Code(err error) int {
	var e interface{ Code() int }
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// State returns PostgreSQL's code of an error, "" when it has none.
func State(err error) string {
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		return e.Code
	}
	return ""
}

// Cut reports whether an error says that the connection was lost, or that there
// was none.
func Cut(err error) bool {
	if state := State(err); state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P") // codes that end a session
	}
	of, network := errors.AsType[net.Error](err)
	if _, system := of.(syscall.Errno); system { // which has the methods of a net.Error, also when it is a file's
		network = false
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return network || connecting || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || err != nil && err.Error() == "conn closed" // of pgx, which has no type for it
}

// OfDatabase reports whether an error is the database's, so that the transaction
// it came up in is of no use any more.
func OfDatabase(err error) bool { return Code(err) != 0 || State(err) != "" || Cut(err) }

// Conflicts reports whether the database undid a transaction on account of
// another one: it is to be tried again.
func Conflicts(err error) bool {
	switch State(err) {
	case "40001", "40P01", // serialization failure, deadlock
		"23505": // of two transactions that number something, the later
		return true
	default:
		return false
	}
}

// Busy reports whether the database was locked by another connection.
func Busy(err error) bool {
	code := Code(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// Unwritable reports whether a file or its folder could not be written.
func Unwritable(err error) bool {
	code := Code(err)
	return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN
}

// Unsynced reports whether a sync failed.
func Unsynced(err error) bool {
	var e interface{ Code() int }
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_IOERR_FSYNC || e.Code() == sqlite3.SQLITE_IOERR_DIR_FSYNC)
}

// Undecided reports whether a COMMIT that failed so may have been done, or have
// been lost in part.
func Undecided(err error) bool {
	if state := State(err); state != "" && !Cut(err) {
		return strings.HasPrefix(state, "58") || strings.HasPrefix(state, "XX") // trouble of the system, or inside PostgreSQL
	}
	switch Code(err) {
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

// Failed says what failed where, in words of the operator, when err is the
// database's. Errors of package storage pass as they are.
func Failed(file, what string, err error) error {
	var problem string
	switch Code(err) {
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
	state := State(err)
	switch state {
	case "":
		if Cut(err) && !errors.Is(err, context.DeadlineExceeded) {
			return "the server cannot be reached"
		}
		return ""
	case "28000", "28P01":
		return "the server does not let this user in: check user and password"
	case "3D000":
		return "there is no such database: make it with createdb"
	case LacksRights:
		return "the user lacks rights in the database"
	case "42P01": // which the catalog had
		return "a table is gone, or the user may not use its schema: GRANT USAGE ON SCHEMA"
	case "53100":
		return "the disk is full"
	case "53300":
		return "the server has no connection left: raise max_connections, or use fewer processes"
	case "57014":
		return "it took longer than statement_timeout lets it"
	case IsLocked:
		return "another transaction keeps it locked: pg_stat_activity shows which"
	case "25006":
		return "the server takes no writes: is it a standby?"
	}
	if Cut(err) {
		return "the server ended the connection"
	}
	return "the server refused it"
}

// IsLocked is what PostgreSQL calls the error of a statement that has waited for a lock for lock_timeout.
const IsLocked = "55P03"

// LacksRights is what PostgreSQL calls the error of a user without a right.
const LacksRights = "42501"
