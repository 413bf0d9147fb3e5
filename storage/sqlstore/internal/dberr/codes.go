// Package dberr interprets the errors of both databases, and describes them for operators.
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

// Code returns SQLite's primary result code of an error; 0 if the error is not SQLite's.
func Code(err error) int {
	var e interface{ Code() int }
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// State returns PostgreSQL's code of an error; "" if the error is not PostgreSQL's.
func State(err error) string {
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		return e.Code
	}
	return ""
}

// Cut reports whether an error means that the connection was lost or could not be made.
func Cut(err error) bool {
	if state := State(err); state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P") // classes of codes that end a session
	}
	of, network := errors.AsType[net.Error](err)
	if _, system := of.(syscall.Errno); system { // an Errno has the methods of a net.Error even if it concerns a file
		network = false
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return network || connecting || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) ||
		// pgx has no type for this error
		errors.Is(err, net.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || err != nil &&
		err.Error() == "conn closed"
}

// OfDatabase reports whether an error is the database's. The transaction can then only be rolled back.
func OfDatabase(err error) bool { return Code(err) != 0 || State(err) != "" || Cut(err) }

// Conflicts reports whether the database rolled a transaction back because of another one. The caller should repeat
// it.
func Conflicts(err error) bool {
	switch State(err) {
	case "40001", "40P01", // serialization failure, deadlock
		"23505": // unique violation: two transactions chose the same number, and this one was later
		return true
	default:
		return false
	}
}

// Busy reports whether another connection had locked the database.
func Busy(err error) bool {
	code := Code(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// Unwritable reports whether the process cannot write a file or its folder.
func Unwritable(err error) bool {
	code := Code(err)
	return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN
}

// Unsynced reports whether a sync failed.
func Unsynced(err error) bool {
	var e interface{ Code() int }
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_IOERR_FSYNC || e.Code() == sqlite3.SQLITE_IOERR_DIR_FSYNC)
}

// Undecided reports whether a COMMIT that failed with this error may have been applied, or may be lost in part.
func Undecided(err error) bool {
	if state := State(err); state != "" && !Cut(err) {
		// System error, or internal error of PostgreSQL.
		return strings.HasPrefix(state, "58") || strings.HasPrefix(state, "XX")
	}
	switch Code(err) {
	case 0, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_INTERNAL:
		return true
	default:
		return false
	}
}

// Misread reports whether a row has an unexpected type, or a column of the schema has another name. Most such
// errors have no types.
func Misread(err error) bool {
	_, scan := errors.AsType[pgx.ScanArgError](err)
	text := err.Error()
	return scan || strings.Contains(text, "sql: Scan error") || strings.Contains(text, "missing destination name")
}

// Failed describes for an operator what failed and where, if err is the database's. It returns errors of package
// storage unchanged.
func Failed(file, what string, err error) error {
	var problem string
	switch Code(err) {
	case 0:
		if problem = troubleOf(err); problem != "" {
			return fmt.Errorf("sqlstore: %s: %s: %s: %w", file, what, problem, err)
		}
		if err != nil && Misread(err) {
			return fmt.Errorf("sqlstore: %s: %s: %w: %w", file, what, storage.ErrCorrupt, err)
		}
		return err
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		problem = "another program keeps the file locked"
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

// troubleOf describes for an operator what is wrong with a server; "" if err does not tell.
func troubleOf(err error) string {
	state := State(err)
	switch state {
	case "":
		if Cut(err) && !errors.Is(err, context.DeadlineExceeded) {
			return "the server cannot be reached"
		}
		return ""
	case "28000", "28P01":
		return "the server refused the login: check user and password"
	case "3D000":
		return "the database does not exist: create it with createdb"
	case LacksRights:
		return "the user lacks rights in the database"
	case "42P01": // the catalog had the table
		return "a table is missing, or the user may not use its schema: GRANT USAGE ON SCHEMA"
	case "53100":
		return "the disk of the server is full"
	case NoConnectionLeft:
		return "the server has no connection left: raise max_connections, or use fewer processes"
	case "57014":
		return "the statement took longer than statement_timeout"
	case IsLocked:
		return "another transaction has locked the row: pg_stat_activity shows which one"
	case "25006":
		return "the server accepts no writes: check whether it is a standby"
	}
	if Cut(err) {
		return "the server ended the connection"
	}
	return "the server refused the statement"
}

// IsLocked is PostgreSQL's error code for a statement that waited for a lock longer than lock_timeout.
const IsLocked = "55P03"

// NoConnectionLeft is PostgreSQL's error code of a server, a database or a user that has no connection left.
const NoConnectionLeft = "53300"

// LacksRights is PostgreSQL's error code for a user without the required right.
const LacksRights = "42501"
