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
	known *boundedcache.Cache[runKey, *knownUndo]
}

// A knownUndo is an undo that was read.
type knownUndo struct {
	mu   sync.Mutex // held while the undo is read
	undo Undo
	of   []readHistory // the run, and the child runs whose steps the undo contains; nil until it was read
}

// A readHistory says up to where the history of a run was read. Histories only grow.
type readHistory struct {
	id      string
	run     runKey
	entries int64
}

// Of is [UndoOf].
func (u *Undos) Of(ctx context.Context, store backend.Reader, run *storage.Run) (Undo, error) {
	u.once.Do(func() { u.known = boundedcache.New[runKey, *knownUndo](keptUndos) })
	k, ok := u.known.Get(keyOf(run))
	if !ok {
		k = u.known.Add(keyOf(run), &knownUndo{}, 1)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if current, err := k.isCurrent(ctx, store, run); current || err != nil {
		return k.undo, err
	}
	r := newUndoReader(store)
	if err := r.read(ctx, run, ""); err != nil {
		return r.Undo, err
	}
	k.undo, k.of = r.Undo, r.of
	return k.undo, nil
}

// isCurrent reports whether no history has grown since the undo was read.
func (k *knownUndo) isCurrent(ctx context.Context, store backend.Reader, run *storage.Run) (bool, error) {
	if k.of == nil || run.Entries > k.of[0].entries {
		return false, nil
	}
	for _, was := range k.of[1:] {
		child, err := begunRunOf(ctx, store, was.id)
		if err != nil || keyOf(&child) != was.run || child.Entries > was.entries {
			return false, err
		}
	}
	return true, nil
}
