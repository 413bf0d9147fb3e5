package inspect

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ebbflow/ebb/storage"
)

const (
	keptLevels = 64      // levels that [Levels] remembers; a page needs up to 31
	keptRows   = 150_000 // rows of all these levels; a row takes some 200 bytes
	// mostChanges is the maximum number of lines of a history that are read to update a level. If there are more, the
	// level is read again.
	mostChanges = 2000
)

// Levels reads levels as [ReadLevel] does, and remembers those that were read last. The cost of reading such a level
// again depends on what has changed, not on the size of the level. The zero value remembers nothing yet. Methods may be
// called concurrently.
type Levels struct {
	mu    sync.Mutex
	known []*knownLevel // used last first
}

// A knownLevel is a level that was read.
type knownLevel struct {
	run  runKey
	path string // in that run

	mu      sync.Mutex // held while the level is read
	scan    *levelScan // nil until it was read; its children do not change
	commits int64      // of the run; scan has at least this number
	entries int64      // of the history, likewise
	rows    atomic.Int64
}

// Read is [ReadLevel]. All calls must have the same store.
func (ls *Levels) Read(ctx context.Context, store storage.Reader, run *storage.Run, q LevelQuery) (*Level, error) {
	place, err := PlaceOf(ctx, store, run, q.Below)
	if err == nil {
		place, err = place.entered(ctx, store)
	}
	if errors.Is(err, storage.ErrNotFound) { // it was purged
		return &Level{Below: q.Below, Rows: []Row{}}, nil
	}
	if err != nil {
		return nil, err
	}
	l, err := ls.scan(ctx, store, &place)
	if err != nil {
		return nil, err
	}
	return ls.level(ctx, store, l, q)
}

// scan returns the children of a place.
func (ls *Levels) scan(ctx context.Context, store storage.Reader, place *Place) (*levelScan, error) {
	k := ls.find(place)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.scan != nil && place.Run.Seq <= k.commits {
		return k.scan.at(place), nil
	}
	// Commits without lines may have changed atoms, such as those of a run that keeps no history.
	old := k.scan
	if place.Run.Entries == k.entries {
		old = nil
	}
	l, ok, err := old.after(ctx, store, place, k.entries)
	if err == nil && !ok {
		l, err = scanLevel(ctx, store, place)
	}
	if err != nil {
		return nil, err
	}
	k.scan, k.commits, k.entries = l, place.Run.Seq, place.Run.Entries
	if l.partial || len(l.all) > keptRows {
		k.scan = nil
	}
	k.rows.Store(int64(len(l.all)))
	ls.forget()
	return l.at(place), nil
}

// A runKey identifies a run among all that a store has had. Of a purged run, another may have the id or the number.
type runKey struct {
	id      string
	created int64
}

func keyOf(run *storage.Run) runKey { return runKey{run.ID, run.Created.UnixNano()} }

// find returns the level at a place, and notes that it is used.
func (ls *Levels) find(place *Place) *knownLevel {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	at := slices.IndexFunc(ls.known, func(k *knownLevel) bool {
		return k.run == keyOf(&place.Run) && k.path == place.Path
	})
	k := &knownLevel{run: keyOf(&place.Run), path: place.Path}
	if at >= 0 {
		k = ls.known[at]
		ls.known = slices.Delete(ls.known, at, at+1)
	}
	ls.known = slices.Insert(ls.known, 0, k)
	return k
}

// forget drops the least recently used levels until the rest is small enough.
func (ls *Levels) forget() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	rows := int64(0)
	for i, k := range ls.known {
		if rows += k.rows.Load(); i == keptLevels || rows > keptRows && i > 0 {
			ls.known = slices.Delete(ls.known, i, len(ls.known))
			return
		}
	}
}
