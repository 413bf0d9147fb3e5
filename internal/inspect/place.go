package inspect

import (
	"context"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Place is the target of a path in a run's tree. Below an atom of a Go flow that started a run (flow.Each, flow.Run),
// a path continues in that run.
type Place struct {
	Run    storage.Run // run that the atoms at the place belong to
	Path   string      // path in that run; "" is the run itself
	Prefix string      // prefix of that run's paths in the tree: "" or a path and a slash
}

// PlaceOf follows a path of the tree of a run, such as each/17/Pack. A path that leads nowhere is a place, too, without
// atoms. It returns the store's errors; if a child run on the way was purged, that is [storage.ErrNotFound].
func PlaceOf(ctx context.Context, store backend.Reader, run *storage.Run, path string) (Place, error) {
	p := Place{*run, path, ""}
	for p.Path != "" {
		atoms, err := store.AtomsAt(ctx, p.Run.ID, prefixes(p.Path)...)
		if err != nil {
			return p, err
		}
		at := slices.IndexFunc(atoms, func(a storage.Atom) bool { return childRun(p.Run.ID, &a) != "" })
		if at < 0 || atoms[at].Path == p.Path {
			return p, nil
		}
		a := &atoms[at]
		if p, err = p.into(ctx, store, a); err != nil {
			return p, err
		}
	}
	return p, nil
}

// into returns the place in the run that an atom started.
func (p Place) into(ctx context.Context, store backend.Reader, a *storage.Atom) (Place, error) {
	run, err := store.Run(ctx, childRun(p.Run.ID, a))
	rest := strings.TrimPrefix(strings.TrimPrefix(p.Path, a.Path), "/")
	return Place{run, rest, p.Prefix + a.Path + "/"}, err
}

// deepestPath is the maximum number of parts of a path that may lead into child runs.
const deepestPath = 50

// prefixes returns the path, and the paths above it that end before a slash, the shortest first.
func prefixes(path string) []string {
	var all []string
	for i := range path {
		if path[i] == '/' && i > 0 && len(all) < deepestPath {
			all = append(all, path[:i])
		}
	}
	return append(all, path)
}
