package enginetest

import (
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/failat"
	"github.com/ebbflow/ebb/storage"
)

// DieAt returns a store whose process dies after n commits. It passes n commits to s and then
// closes s: nothing more is written, and the runs of the process have no owner. What an atom did
// after the last commit is done but not recorded. [engine.Engine.Run] returns an
// *[engine.StoreError] that wraps [storage.ErrClosed].
//
// To resume the run afterwards, pass a store that shares its records with another one,
// such as the result of Join of a [memstore.New].
func DieAt(s storage.Store, n int) storage.Store { return failat.DieAt(backend.Of(s), n) }
