package inspect

import (
	"context"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Summary is the head of `ebb show -o json`: a run, how much it has done, and what it still has to send.
type Summary struct {
	Run

	Iterations int64 `json:"iterations"` // steps of its language, or attempts of the atoms of its flow
	Entries    int64 `json:"entries"`    // number of lines of its history
	Bytes      int64 `json:"bytes"`      // bytes of history, payloads and records that it has written

	Messages []Message `json:"messages,omitempty"` // messages in the outbox that it still has to send
}

// SummaryOf returns the head of `ebb show -o json`, with secrets masked.
func SummaryOf(run *storage.Run, messages []Unsent) Summary {
	return Summary{RunOf(run), run.Iterations, run.Entries, run.Bytes, MessagesOf(messages)}
}

// Atoms yields the atoms of a run in the form of the JSON, in the order in which they began. Atoms that the history
// does not name come last. It reads them page by page, and ends with the store's error if the store fails.
func Atoms(ctx context.Context, store backend.Reader, run *storage.Run) iter.Seq2[Atom, error] {
	return func(yield func(Atom, error) bool) {
		r := &atomReader{run: run, seed: maphash.MakeSeed(), told: map[uint64]struct{}{}, yield: yield}
		for e, err := range storage.EachEntry(ctx, store, run.ID, 0) {
			if err != nil {
				yield(Atom{}, err)
				return
			}
			if e.Kind == storage.EntryAtom && r.first(e.Path) && !r.next(ctx, store, e.Path, atomsAtOnce) {
				return
			}
		}
		if !r.next(ctx, store, "", 0) {
			return
		}
		for a, err := range storage.EachAtom(ctx, store, run.ID, storage.AtomQuery{}) {
			if err == nil && !r.first(a.Path) {
				continue
			}
			if !yield(AtomOf(run, &a), err) {
				return
			}
		}
	}
}

// An atomReader yields atoms. It remembers the atoms that it has yielded by eight bytes of each.
type atomReader struct {
	run   *storage.Run
	seed  maphash.Seed
	told  map[uint64]struct{}
	paths []string // to read
	yield func(Atom, error) bool
}

// first reports whether the atom of a path was not yielded yet.
func (r *atomReader) first(path string) bool {
	sum := maphash.String(r.seed, path)
	if _, told := r.told[sum]; told || path == flow.GrowingPath {
		return false
	}
	r.told[sum] = struct{}{}
	return true
}

// next adds a path, and yields the atoms at the paths once there are enough of them.
func (r *atomReader) next(ctx context.Context, store backend.Reader, path string, more int) bool {
	if path != "" {
		r.paths = append(r.paths, path)
	}
	if len(r.paths) <= more {
		return true
	}
	atoms, err := store.AtomsAt(ctx, r.run.ID, r.paths...)
	if err != nil {
		r.yield(Atom{}, err)
		return false
	}
	order := map[string]int{}
	for i, path := range r.paths {
		order[path] = i
	}
	slices.SortFunc(atoms, func(a, b storage.Atom) int { return order[a.Path] - order[b.Path] })
	r.paths = r.paths[:0]
	for i := range atoms {
		if !r.yield(AtomOf(r.run, &atoms[i]), nil) {
			return false
		}
	}
	return true
}
