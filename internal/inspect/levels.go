package inspect

import (
	"context"
	"errors"
	"sync"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/boundedcache"
	"github.com/ebbflow/ebb/storage"
)

const (
	keptRows  = 150_000 // rows of all levels that [Levels] remembers; a row takes some 200 bytes
	levelRows = 200     // a level counts as so many rows more; a page needs up to 31 levels
	// mostChanges is the maximum number of lines of a history that are read to update a level. If there are more, the
	// level is read again.
	mostChanges = 2000
)

// Levels reads levels as [ReadLevel] does, and remembers those that were read last. The cost of reading such a level
// again depends on what has changed, not on the size of the level. The zero value remembers nothing yet. Methods may be
// called concurrently.
type Levels struct {
	once  sync.Once
	known *boundedcache.Cache[levelKey, *knownLevel]
}

// A levelKey is the place of a level: a path in a run.
type levelKey struct {
	run  runKey
	path string
}

// A knownLevel is a level that was read.
type knownLevel struct {
	mu      sync.Mutex // held while the level is read
	scan    *levelScan // nil until it was read; its children do not change
	commits int64      // of the run; scan has at least this number
	entries int64      // of the history, likewise
}

// Read is [ReadLevel]. All calls must have the same store.
func (ls *Levels) Read(ctx context.Context, store backend.Reader, run *storage.Run, q LevelQuery) (*Level, error) {
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
func (ls *Levels) scan(ctx context.Context, store backend.Reader, place *Place) (*levelScan, error) {
	ls.once.Do(func() { ls.known = boundedcache.New[levelKey, *knownLevel](keptRows) })
	key := levelKey{keyOf(&place.Run), place.Path}
	k, ok := ls.known.Get(key)
	if !ok {
		k = ls.known.Add(key, &knownLevel{}, levelRows)
	}
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
	weight := int64(levelRows + len(l.all))
	if l.partial || len(l.all) > keptRows {
		k.scan, weight = nil, levelRows
	}
	ls.known.Weigh(key, weight)
	return l.at(place), nil
}

// A runKey identifies a run among all that a store has had. Of a purged run, another may have the id or the number.
type runKey struct {
	id      string
	created int64 // in microseconds, which no year overflows
}

func keyOf(run *storage.Run) runKey { return runKey{run.ID, run.Created.UnixMicro()} }
