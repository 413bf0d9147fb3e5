package inspect

import (
	"context"
	"sync"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/boundedcache"
	"github.com/ebbflow/ebb/storage"
)

// keptUndos is the number of undos that [Undos] remembers.
const keptUndos = 256

// Undos reads undos as [UndoOf] does, and remembers those that were read last. A page of a run that failed needs its
// undo, whose lines lie anywhere in the history: reading 300,000 lines for each page took 0.4 s. The zero value
// remembers nothing yet. Methods may be called concurrently, all with the same store.
type Undos struct {
	once  sync.Once
	known *boundedcache.Cache[undoKey, Undo]
}

// An undoKey says up to where the history of a run was read. Histories only grow.
type undoKey struct {
	run     runKey
	entries int64
}

// Of is [UndoOf]. An undo that depends on child runs is not remembered, because they have histories of their own.
func (u *Undos) Of(ctx context.Context, store backend.Reader, run *storage.Run) (Undo, error) {
	u.once.Do(func() { u.known = boundedcache.New[undoKey, Undo](keptUndos) })
	key := undoKey{keyOf(run), run.Entries}
	if undo, ok := u.known.Get(key); ok {
		return undo, nil
	}
	r := newUndoReader(store)
	if err := r.read(ctx, run, ""); err != nil || r.left < maxChildRuns {
		return r.Undo, err
	}
	return u.known.Add(key, r.Undo, 1), nil
}
