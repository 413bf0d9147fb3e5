package sqlstore

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
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

// waits reports whether a write was not done because another transaction has locked its rows.
func waits(err error) bool { return errors.Is(err, errHeld) || dberr.State(err) == dberr.IsLocked }
