package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
)

// The record of a retry is kept anew with each try, so it holds only the newest
// tries. Once those are a full block, they go, before the next: so a try costs
// the same however many there were.
const (
	blockTries = 16      // that a block has at most,
	blockBytes = 4 << 10 // unless they are as large as that before
)

// tried adds a try, which provides value, to the record of a retry.
func (s *Scheduler) tried(a int32, value atom.Value) {
	r := &s.rec[a]
	h := r.Tries()
	if full(h.Tries) {
		s.emit(Command{Op: Shelve, Atom: a, Detail: &Detail{Tries: h}})
		h.Earlier, h.Tries = h.Count(), nil
	}
	h.Tries = append(slices.Clip(h.Tries), atom.Try{Value: value})
	h.Failure = nil
	r.Rare = &Rare{Tries: &h}
}

// full reports whether the tries are a block.
func full(tries []atom.Try) bool {
	size := 0
	for i := range tries {
		size += len(tries[i].Value)
		for _, f := range tries[i].Failures {
			size += len(f.Message) + len(f.Details)
		}
	}
	return len(tries) >= blockTries || size >= blockBytes
}
