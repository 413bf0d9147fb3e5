package storage

import (
	"context"
	"slices"
	"sort"
)

// rings are the letters that came, of all runs, in the order in which they came.
type rings struct {
	last    int64 // rising with each letter
	log     []ringing
	compact int // length at which those that were answered are dropped
}

// A ringing is a letter that came.
type ringing struct {
	at     int64
	run    *memoryRun
	letter int64
}

const firstCompact = 1024

// ringing notes that a letter came.
func (m *memory) ringing(r *memoryRun, letter int64) {
	all := &m.rings
	all.last++
	all.log = append(all.log, ringing{at: all.last, run: r, letter: letter})
	if len(all.log) > max(all.compact, firstCompact) {
		all.log = slices.DeleteFunc(all.log, func(one ringing) bool { return m.runs[one.run.head.ID] != one.run || !one.run.has(one.letter) })
		all.compact = 2 * len(all.log)
	}
}

// has reports whether a letter is in the box still.
func (r *memoryRun) has(letter int64) bool {
	i := sort.Search(len(r.letters), func(i int) bool { return r.letters[i].N >= letter })
	return i < len(r.letters) && r.letters[i].N == letter
}

// Rang returns which of this owner's runs were rung since.
func (m *MemoryStore) Rang(ctx context.Context, since int64) ([]Ring, int64, error) {
	if err := m.enter(ctx); err != nil {
		return nil, 0, err
	}
	defer m.mu.Unlock()
	log := m.rings.log
	log = log[sort.Search(len(log), func(i int) bool { return log[i].at > since }):]
	var letters []Ring
	for _, one := range log {
		if one.run.head.Owner == m.owner.ID && one.run.has(one.letter) {
			letters = append(letters, Ring{Run: one.run.head.ID, Bell: one.letter})
		}
	}
	return LastRings(letters), m.rings.last, nil
}

// LastRings returns the last ring of each run, in the order of these. The
// argument is used for it. For those who write stores.
func LastRings(rings []Ring) []Ring {
	named := make(map[string]bool, len(rings))
	kept := len(rings)
	for _, ring := range slices.Backward(rings) {
		if !named[ring.Run] {
			named[ring.Run] = true
			kept--
			rings[kept] = ring
		}
	}
	return rings[kept:]
}
