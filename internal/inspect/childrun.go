package inspect

import (
	"context"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// If an atom of a Go flow begins a run (flow.Each, flow.Run), views show the steps of that run below the atom. Runs of
// a language are shown on their own.

// maxChildRuns is the maximum number of child runs whose steps a tree shows.
const maxChildRuns = 30

// childRun returns the id of the run that an atom of a Go flow began; "" if there is none.
func childRun(run string, a *storage.Atom) string {
	var spec grow.Spec
	if a.Kind != storage.KindRun || a.Attempt == 0 || a.Spec.Decode(&spec) != nil {
		return ""
	}
	if a.Spec != nil && (spec.Child == nil || spec.Child.Structure == "") {
		return ""
	}
	id, _ := backend.BegunBy(run, a)
	return id
}

// begunRunOf returns a run that an atom began. It was not created if there is none: it was purged.
func begunRunOf(ctx context.Context, store backend.Reader, id string) (storage.Run, error) {
	child, err := store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Run{ID: id}, nil
	}
	return child, err
}

// mostCounted is the number of child runs of a run whose lines [Lines] counts.
const mostCounted = 1000

// Lines returns how many lines of history the tree of a run is built of: its own, and those of the runs that its atoms
// began, if the tree shows them. If there are more than most, it returns a number above that.
func Lines(ctx context.Context, store backend.Reader, run *storage.Run, most int64) (lines int64, err error) {
	lines = run.Entries
	if run.Definition != "" {
		return lines, nil
	}
	for next := []string{run.ID}; len(next) > 0 && lines <= most; next = next[1:] {
		children, err := store.Runs(ctx, storage.RunQuery{Parent: next[0], Brief: true, Limit: mostCounted})
		if err != nil {
			return 0, err
		}
		for i := range children {
			if lines += children[i].Entries; len(next) <= maxChildRuns {
				next = append(next, children[i].ID)
			}
		}
	}
	return lines, nil
}

// childBelow returns the path of the atom that began a run to which the path leads, and that run; nil if there is none.
func childBelow(
	ctx context.Context, store backend.Reader, run, path string,
) (began string, child *storage.Run, err error) {
	for i, c := range path {
		if c != '/' {
			continue
		}
		a, err := store.Atom(ctx, run, path[:i])
		var r storage.Run
		if id := childRun(run, &a); err == nil && id != "" {
			if r, err = store.Run(ctx, id); err == nil {
				return path[:i], &r, nil
			}
		}
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return "", nil, err
		}
	}
	return "", nil, nil
}

// graft puts the steps of child runs below the steps that began them. Left is how many runs may still be read.
func (t *Tree) graft(ctx context.Context, store backend.Reader, left *int) error {
	for _, s := range slices.Collect(t.begun) {
		if *left == 0 {
			t.Partial = true
			return nil
		}
		*left--
		run, err := store.Run(ctx, s.run)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		sub, err := recorded(ctx, store, &run, nil, left)
		if err != nil {
			return err
		}
		t.take(s, sub)
	}
	return nil
}

// begun yields the steps that started a run, in the order of the tree.
func (t *Tree) begun(yield func(*Step) bool) {
	for steps := slices.Clone(t.Top.children); len(steps) > 0; {
		s := steps[0]
		steps = append(slices.Clone(s.children), steps[1:]...)
		if s.run != "" && !yield(s) {
			return
		}
	}
}

// take puts the steps of a tree below a step. The undone steps there replace the step in the list of undone steps.
func (t *Tree) take(s *Step, sub *Tree) {
	moved := map[*Step]bool{}
	for steps := slices.Concat(sub.Top.children, sub.Undone); len(steps) > 0; steps = steps[1:] {
		inside := steps[0]
		if moved[inside] { // it is in the tree, and was undone
			continue
		}
		moved[inside] = true
		inside.Path = s.Path + "/" + inside.Path
		steps = append(steps, inside.children...)
	}
	s.children, s.folded = sub.Top.children, sub.Top.folded
	t.Partial = t.Partial || sub.Partial
	t.Forgotten += sub.Forgotten
	if at := slices.Index(t.Undone, s); at >= 0 {
		end := at + 1
		if s.State == states.TaskRevertFailure {
			end = at
		}
		t.Undone = slices.Replace(t.Undone, at, end, sub.Undone...)
	} else {
		t.Undone = append(t.Undone, sub.Undone...)
	}
}
