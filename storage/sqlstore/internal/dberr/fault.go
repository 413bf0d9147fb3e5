package dberr

import (
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// The faults of a database, whatever is asked of it.
const (
	Unreachable = "unreachable" // it does not answer, or ends connections
	Full        = "disk_full"
	ReadOnly    = "read_only" // it is a standby, or the file cannot be written
	Exhausted   = "exhausted" // it has no connection or memory left
	Locked      = "locked"    // another program keeps it locked
	Failing     = "failing"   // its disk or its file system fails
)

// Faults are all faults.
var Faults = []string{Unreachable, Full, ReadOnly, Exhausted, Locked, Failing}

// Fault returns the fault of the database that an error shows; "" if it shows none. A damaged page is none: it concerns
// the rows on it.
func Fault(err error) string {
	switch Code(err) {
	case 0:
	case sqlite3.SQLITE_FULL:
		return Full
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return ReadOnly
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return Locked
	case sqlite3.SQLITE_IOERR:
		return Failing
	default:
		return ""
	}
	switch state := State(err); {
	case state == "" && Cut(err), strings.HasPrefix(state, "08"), strings.HasPrefix(state, "57P"):
		return Unreachable
	case state == "53100":
		return Full
	case state == "25006":
		return ReadOnly
	case strings.HasPrefix(state, "53"):
		return Exhausted
	case strings.HasPrefix(state, "58"), strings.HasPrefix(state, "XX"):
		return Failing
	default:
		return ""
	}
}
