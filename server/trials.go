package server

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
)

// What a process keeps of trials, see [Trials].
const (
	//limit:storage trials of definitions in a server's memory, of one caller; of all | {callersTrials}; {} | the
	//limit:and caller's oldest is forgotten; the oldest if it is older than {freshTrialTime}, otherwise 503
	maxTrials      = 20               // trials of all callers
	callersTrials  = 5                // trials of one caller
	freshTrialTime = 30 * time.Minute // how long a trial is safe from those of other callers
)

// Trials keeps the stores of the newest trials of definitions, which are in memory: 20 in all, and 5 of one caller.
// Only the caller who tried a definition sees its trial. No caller displaces a trial of another that is younger than
// half an hour. The zero Trials keep none yet. Package api adds to them, and package console shows them.
type Trials struct {
	mu   sync.Mutex
	kept []trial // the oldest first
}

type trial struct {
	id, owner string
	store     backend.Store
	at        time.Time
}

// Check returns nil if a caller may try a definition now. Otherwise the error says why not, and when.
func (t *Trials) Check(owner string, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.displaced(owner, now)
	return err
}

// Keep keeps the store of a trial of a caller, and returns the id of the trial. If there are too many trials, Keep
// forgets the oldest one of the caller, or one of another caller that is not fresh. If there is none, it keeps nothing
// and returns the error of [Trials.Check].
func (t *Trials) Keep(owner string, store backend.Store, now time.Time) (id string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, err := t.displaced(owner, now)
	if err != nil {
		return "", err
	}
	if i >= 0 {
		t.kept = slices.Delete(t.kept, i, i+1)
	}
	id = rand.Text()
	t.kept = append(t.kept, trial{id, owner, store, now})
	return id, nil
}

// displaced returns the index of the trial that a further one of a caller displaces; -1 if there are not too many.
func (t *Trials) displaced(owner string, now time.Time) (int, error) {
	own, oldest := 0, -1
	for i := range t.kept {
		if t.kept[i].owner != owner {
			continue
		}
		if own++; oldest < 0 {
			oldest = i
		}
	}
	switch {
	case own >= callersTrials:
		return oldest, nil
	case len(t.kept) < maxTrials:
		return -1, nil
	}
	first := t.kept[0] // the oldest of all
	if free := first.at.Add(freshTrialTime); first.owner != owner && now.Before(free) {
		if oldest >= 0 {
			return oldest, nil
		}
		return 0, fmt.Errorf("this process keeps %d trials of other callers, and each for half an hour: try again in %v",
			maxTrials, free.Sub(now).Round(time.Second))
	}
	return 0, nil
}

// Of returns the store of a trial of a caller; ok is false if the process has no such trial any more.
func (t *Trials) Of(owner, id string) (store backend.Store, ok bool) {
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
