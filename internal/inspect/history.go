package inspect

import (
	"context"
	"iter"
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// History yields the lines of the history of a run after the line with the given number. It leaves out the undo of
// atoms that nothing reverts: TaskFlow's states of them are those of a revert, but nothing was reverted. It also leaves
// out the atom that represents a growing flow. All views read the history through it, page by page. It ends with the
// store's error if the store fails.
func History(ctx context.Context, store backend.Reader, run *storage.Run, after int64) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		l, err := linesOf(ctx, store, run)
		if err != nil {
			yield(storage.Entry{}, err)
			return
		}
		l.each(ctx, store, run, after)(yield)
	}
}

// lines say which lines of a history to show, and which child runs continue it.
type lines struct {
	passes map[string]bool // atoms that the undo passes without a revert
	begun  []begunRun      // child runs of a Go flow, at most one more than a view shows
}

// A begunRun is a child run that an atom of a Go flow began.
type begunRun struct{ path, id string }

// linesOf reads the atoms of a run of a Go flow. The language of a definition says what can be reverted, and its child
// runs are shown on their own.
func linesOf(ctx context.Context, store backend.Reader, run *storage.Run) (*lines, error) {
	l := &lines{passes: map[string]bool{}}
	if run.Definition != "" {
		return l, nil
	}
	grown, err := store.AtomsAt(ctx, run.ID, flow.GrowingPath)
	if err != nil {
		return nil, err
	}
	for a, err := range storage.EachAtom(ctx, store, run.ID, storage.AtomQuery{}) {
		if err != nil {
			return nil, err
		}
		if len(grown) == 0 && a.UndoPasses() {
			l.passes[a.Path] = true
		}
		if id := childRun(run.ID, &a); id != "" && len(l.begun) <= maxChildRuns {
			l.begun = append(l.begun, begunRun{a.Path, id})
		}
	}
	return l, nil
}

// mayHaveBegun reports whether an atom may have begun a child run.
func (l *lines) mayHaveBegun(path string) bool {
	return len(l.begun) > maxChildRuns || slices.ContainsFunc(l.begun, func(b begunRun) bool { return b.path == path })
}

// each yields the lines to show.
func (l *lines) each(
	ctx context.Context, store backend.Reader, run *storage.Run, after int64,
) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		for e, err := range storage.EachEntry(ctx, store, run.ID, after) {
			if err == nil && l.hides(&e) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (l *lines) hides(e *storage.Entry) bool {
	if e.Kind != storage.EntryAtom {
		return false
	}
	to := states.Task(e.To)
	return e.Path == flow.GrowingPath ||
		l.passes[e.Path] && ofRevert(to)
}
