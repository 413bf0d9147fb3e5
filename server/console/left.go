package console

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// left returns the atoms of a flow in Go that have a Revert and were done, but not undone, the last first. Those of a
// definition stand in the undo stack. It returns at most [mostUndone].
func (p *runPage) left(ctx context.Context, t *inspect.Tree) ([]string, error) {
	if p.machine != nil || p.run.Structure == "" || p.run.State == states.FlowReverted {
		return nil, nil
	}
	picture, err := inspect.PlanView(ctx, p.store, &p.run)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var steps []*inspect.Step
	collect(&t.Top, &steps)
	ended := make(map[string]time.Time, len(steps))
	for _, s := range steps {
		ended[s.Path] = s.Ended
	}
	var paths []string
	for i := range picture.Nodes {
		if n := &picture.Nodes[i]; n.Kind == draw.Undoable && n.State == states.TaskSuccess.String() {
			paths = append(paths, n.ID)
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return ended[b].Compare(ended[a]) })
	return paths[:min(len(paths), mostUndone)], nil
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
