package dberr

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/storage"
)

// Reasons why Open refuses a database. Package sqlstore exports these errors and documents when it returns them.
var (
	ErrForeign  = errors.New("sqlstore: not a database of Ebb")
	ErrNewer    = errors.New("sqlstore: the database was made by a newer Ebb")
	ErrOlder    = errors.New("sqlstore: the database was made by an older Ebb")
	ErrNoTables = errors.New("sqlstore: the database has no tables of Ebb yet")
	ErrReplaced = fmt.Errorf("sqlstore: %w: the file was replaced, moved or deleted while it was in use: stop all "+
		"processes that use it, then start them again",
		storage.ErrBroken)
)
