package server

import (
	"crypto/rand"
	"slices"
	"sync"

	"github.com/ebbflow/ebb/storage"
)

// maxTrials is how many trials a process keeps.
const maxTrials = 20

// Trials keeps the stores of the newest trials of definitions, which are in memory. Only the caller who tried a
// definition sees its trial. The zero Trials keep none yet. Package api adds to them, and package console shows them.
type Trials struct {
	mu   sync.Mutex
	kept []trial // the oldest first
}

type trial struct {
	id, owner string
	store     storage.Store
}

// Keep keeps the store of a trial of a caller, and returns the id of the trial. It forgets the oldest trial if there
// are too many.
func (t *Trials) Keep(owner string, store storage.Store) (id string) {
	id = rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) == maxTrials {
		t.kept = slices.Delete(t.kept, 0, 1)
	}
	t.kept = append(t.kept, trial{id, owner, store})
	return id
}

// Of returns the store of a trial of a caller; ok is false if the process has no such trial any more.
func (t *Trials) Of(owner, id string) (store storage.Store, ok bool) {
	if t == nil {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.kept, func(one trial) bool { return one.id == id && one.owner == owner })
	if i < 0 {
		return nil, false
	}
	return t.kept[i].store, true
}
