package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
)

// The record of a retry is stored again with each try, so it contains only the newest tries. When these fill a
// block, the block moves to a payload before the next try. Therefore, the cost of a try does not grow with the
// number of tries.
const (
	blockTries = 16      // maximum number of tries in a block
	blockBytes = 4 << 10 // a block with this many bytes is full before that
)

// tried adds a try, which provides value, to the record of a retry.
func (s *Scheduler) tried(u *Unit, value atom.Value) {
	r := &u.Rec
	h := r.Tries()
	if full(h.Tries) {
		s.emit(Command{Op: Shelve, Unit: u, Detail: &Detail{Tries: h}})
		h.Earlier, h.Tries = h.Count(), nil
	}
	h.Tries = append(slices.Clip(h.Tries), atom.Try{Value: value})
	h.Failure = nil
	r.Extra = &RecordExtra{Tries: &h}
}

// full reports whether the tries fill a block.
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
