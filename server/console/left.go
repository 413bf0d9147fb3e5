package console

import (
	"context"
	"slices"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// left returns the atoms of a flow in Go that are left to undo, see [inspect.LeftToUndo]. Those of a definition stand
// in the undo stack.
func (p *runPage) left(ctx context.Context, t *inspect.Tree) ([]string, error) {
	if p.machine != nil {
		return nil, nil
	}
	return inspect.LeftToUndo(ctx, p.store, &p.run, t, mostUndone)
}

// notUndone returns the atoms that an undo that has stopped, or that continues, has still to undo, the last first.
func (p *runPage) notUndone(ctx context.Context) ([]string, error) {
	stuck := p.why.Undo.Stuck.First
	undoes := !p.run.State.Ended() && p.run.Outcome != storage.Unfinished
	if p.isLarge() || len(stuck) == 0 && !undoes {
		return nil, nil
	}
	stack, err := p.store.Undos(ctx, p.run.ID, 0, mostUndone)
	if err != nil {
		return nil, err
	}
	var paths []string
	for i := range stack {
		paths = append(paths, stack[i].Path)
	}
	if p.machine == nil {
		t, err := p.recorded(ctx)
		if err != nil {
			return nil, err
		}
		if paths, err = p.left(ctx, t); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(stuck, path) }), nil
}

// namesLeft says which atoms are not undone yet.
func (p *runPage) namesLeft(paths []string) node {
	if len(paths) == 0 {
		return none
	}
	var names fragment
	for i, path := range paths[:min(len(paths), inspect.MaxShownOfGroup)] {
		names = append(names, when(i > 0, words(", ")), p.atomLink(path))
	}
	more := when(len(paths) > inspect.MaxShownOfGroup, words(", "), el("a", href(p.link("undo")), words("…")))
	return el("p", say("Not undone yet, last first: {0}.", fragment{names, more}))
}

// atomLink chooses an atom in the view that is shown.
func (p *runPage) atomLink(path string) node {
	return el("a", href(p.link(p.view, "atom", path)), words(path))
}
