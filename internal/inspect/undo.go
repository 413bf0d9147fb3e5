package inspect

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An Undo says which atoms of a run were undone, which could not be undone, and which stay done. [UndoOf] reads it.
type Undo struct {
	Undone      int   // number of atoms that were reverted
	Stuck       Paths // atoms whose revert failed
	StaysDone   Paths // atoms that nothing reverts: their effects stay done
	MayStayDone Paths // as StaysDone, but whether they had their effect is not known
	More        bool  // the run has more child runs than are read, so that the numbers may be too small
}

// Paths are paths of atoms in the order of the undo. Of very many only the first are kept.
type Paths struct {
	First []string // the first of them
	Count int      // number of all
}

// keptPaths is the number of kept paths.
const keptPaths = 100

func (p *Paths) add(path string) {
	if p.Count++; len(p.First) < keptPaths {
		p.First = append(p.First, path)
	}
}

func (p *Paths) remove(path string) {
	if i := slices.Index(p.First, path); i >= 0 {
		p.First, p.Count = slices.Delete(p.First, i, i+1), p.Count-1
	}
}

// UndoOf reads from the history how the undo of a run went, with the child runs that atoms of a Go flow started. Their
// paths start with that of the atom. An atom that a retry ran and undid twice counts once. Errors are those of the
// store.
func UndoOf(ctx context.Context, store backend.Reader, run *storage.Run) (Undo, error) {
	return new(Undos).Of(ctx, store, run)
}

// An undoReader reads how an undo went. It remembers which atoms were undone by eight bytes of each.
type undoReader struct {
	Undo

	store  backend.Reader
	of     []readHistory // what it has read
	undone map[uint64]struct{}
	seed   maphash.Seed
}

func newUndoReader(store backend.Reader) *undoReader {
	return &undoReader{store: store, undone: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
}

// read adds a run whose paths start with a prefix.
func (r *undoReader) read(ctx context.Context, run *storage.Run, prefix string) error {
	r.of = append(r.of, readHistory{run.ID, keyOf(run), run.Entries})
	l, err := linesOf(ctx, r.store, run)
	if err != nil {
		return err
	}
	holds := map[string]bool{} // atoms that stand for the steps of the runs that they started
	for _, b := range l.begun {
		if len(r.of) > maxChildRuns {
			r.More = true
			break
		}
		child, err := begunRunOf(ctx, r.store, b.id)
		if err != nil {
			return err
		}
		if child.Created.IsZero() {
			r.of = append(r.of, readHistory{child.ID, keyOf(&child), 0})
			continue
		}
		holds[b.path] = true
		if err := r.read(ctx, &child, prefix+b.path+"/"); err != nil {
			return err
		}
	}
	for e, err := range l.each(ctx, r.store, run, 0) {
		if err != nil {
			return err
		}
		holder := holds[e.Path]
		e.Path = prefix + e.Path
		r.add(&e, holder)
	}
	return nil
}

// add adds a line. The atom of a holder is not counted, unless its revert failed.
func (r *undoReader) add(e *storage.Entry, holder bool) {
	switch {
	case e.Kind == storage.EntryStays:
		r.StaysDone.add(e.Path)
	case e.Kind == storage.EntryMayStay:
		r.MayStayDone.add(e.Path)
	case e.Kind != storage.EntryAtom || isBranch(e.Path):
	case states.Task(e.To) == states.TaskReverted:
		if !holder {
			r.undone[maphash.String(r.seed, e.Path)] = struct{}{}
			r.Undone = len(r.undone)
		}
		r.Stuck.remove(e.Path)
	case states.Task(e.To) == states.TaskRevertFailure:
		r.Stuck.remove(e.Path)
		r.Stuck.add(e.Path)
	}
}

// String says what was undone and what was not, such as "undone 1, stays done 1: charge". It is "" without an undo.
func (u *Undo) String() string {
	var parts []string
	if u.Undone > 0 || u.Stuck.Count+u.StaysDone.Count+u.MayStayDone.Count > 0 {
		or := ""
		if u.More {
			or = " or more"
		}
		parts = append(parts, fmt.Sprintf("undone %d%s", u.Undone, or))
	}
	for _, list := range []struct {
		what  string
		paths *Paths
	}{{"could not be undone", &u.Stuck}, {"stays done", &u.StaysDone}, {"may stay done", &u.MayStayDone}} {
		if list.paths.Count > 0 {
			parts = append(parts, fmt.Sprintf("%s %d: %s", list.what, list.paths.Count, list.paths.few()))
		}
	}
	return strings.Join(parts, ", ")
}

// few names the first paths.
func (p *Paths) few() string {
	text := strings.Join(p.First[:min(len(p.First), MaxShownOfGroup)], ", ")
	if p.Count > MaxShownOfGroup {
		text += ", …"
	}
	return text
}

// Undone yields the paths of the atoms of a run that were reverted, in that order. For an atom of a Go flow that began
// a run, it yields the atoms of that run, unless into is not nil and returns false for the path. It reads the histories
// page by page, and ends with the store's error if the store fails.
func Undone(
	ctx context.Context, store backend.Reader, run *storage.Run, into func(path string) bool,
) iter.Seq2[string, error] {
	return pathsIn(ctx, store, run, beginsUndo, into)
}

// Left yields the paths of the atoms that the undo of a run passed, with the given status: [storage.StatusStaysDone] or
// [storage.StatusMayStayDone]. It reads as [Undone] does.
func Left(ctx context.Context, store backend.Reader, run *storage.Run, status storage.Status) iter.Seq2[string, error] {
	return pathsIn(ctx, store, run, func(e *storage.Entry) bool {
		return e.Kind != storage.EntryAtom && e.Status() == status
	}, nil)
}

// pathsIn yields the paths of some lines of the history of a run and of the child runs that are shown with it.
func pathsIn(
	ctx context.Context, store backend.Reader, run *storage.Run, some func(*storage.Entry) bool, into func(string) bool,
) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		(&pathReader{ctx, store, some, into, yield}).read(run, "")
	}
}

// A pathReader yields paths.
type pathReader struct {
	ctx   context.Context //nolint:containedctx // context of the call
	store backend.Reader
	some  func(*storage.Entry) bool
	into  func(path string) bool // nil means into all child runs
	yield func(string, error) bool
}

// read yields the paths of a run, with a prefix. It returns false if the caller needs no more.
func (r *pathReader) read(run *storage.Run, prefix string) bool {
	l, err := linesOf(r.ctx, r.store, run)
	if err != nil {
		r.yield("", err)
		return false
	}
	told := map[string]bool{} // atoms whose child runs were read
	for e, err := range l.each(r.ctx, r.store, run, 0) {
		if err != nil {
			r.yield("", err)
			return false
		}
		if l.mayHaveBegun(e.Path) && undoes(&e) && (r.into == nil || r.into(prefix+e.Path)) {
			child, err := r.childAt(run, e.Path)
			switch {
			case err != nil:
				r.yield("", err)
				return false
			case child != nil && !told[e.Path]:
				told[e.Path] = true
				if !r.read(child, prefix+e.Path+"/") {
					return false
				}
			}
			if child != nil {
				continue
			}
		}
		if r.some(&e) && !r.yield(prefix+e.Path, nil) {
			return false
		}
	}
	return true
}

// undoes reports whether a line says that the undo of an atom started or that, if it started a run, that run may have
// undone itself.
func undoes(e *storage.Entry) bool {
	to := states.Task(e.To)
	return beginsUndo(e) || e.Kind == storage.EntryAtom && (to == states.TaskFailure || to == states.TaskCancelled)
}

// childAt returns the run that the atom at a path started, or nil.
func (r *pathReader) childAt(run *storage.Run, path string) (*storage.Run, error) {
	atoms, err := r.store.AtomsAt(r.ctx, run.ID, path)
	if err != nil || len(atoms) == 0 {
		return nil, err
	}
	id := childRun(run.ID, &atoms[0])
	if id == "" {
		return nil, nil //nolint:nilnil // it began none
	}
	child, err := begunRunOf(r.ctx, r.store, id)
	if child.Created.IsZero() {
		return nil, err
	}
	return &child, err
}

// beginsUndo reports whether an entry of a history says that the undo of an atom started.
func beginsUndo(e *storage.Entry) bool {
	from := states.Task(e.From)
	return e.Kind == storage.EntryAtom && states.Task(e.To) == states.TaskReverting &&
		from != states.TaskReverting && from != states.TaskRevertFailure
}
