package sqlstore

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

var (
	// ErrForeign is returned by Open if the file is not a database, or is another program's. Open did not change
	// it.
	ErrForeign = dberr.ErrForeign
	// ErrNewer is returned by Open if a newer Ebb created the database. Open did not change it.
	ErrNewer = dberr.ErrNewer
	// ErrOlder is returned by Open if an older Ebb created the database and Open may not migrate it. A file that is
	// opened with [ReadOnly] is migrated when a process opens it for writing. A database on a server is migrated by
	// [Migrate].
	ErrOlder = dberr.ErrOlder
	// ErrNoTables is returned by Open if the database on a server has no tables of Ebb. [Migrate] creates them.
	ErrNoTables = dberr.ErrNoTables
	// ErrReplaced is returned if the database file or its WAL was replaced, moved or deleted while the store had it
	// open. Further writes would go into a file without a name, so the store refuses them.
	ErrReplaced = dberr.ErrReplaced
	// ErrReadOnly is returned by methods that write if the store was opened with [ReadOnly].
	ErrReadOnly = errors.New("sqlstore: the store is open for reading only")
	// ErrBroken is returned by methods that write after a commit or a sync failed in a way that leaves unknown what
	// is on the disk. The store stays readable. Writes that were acknowledged before are safe. To write again, open
	// the database again.
	ErrBroken = fmt.Errorf("sqlstore: %w after an I/O error: check the disk, then restart", storage.ErrBroken)
)

// waits reports whether a write failed because another transaction has locked its rows.
func waits(err error) bool { return errors.Is(err, errHeld) || dberr.State(err) == dberr.IsLocked }
