package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// changed adds to an [ErrChanged] what the flow has added, removed or reordered, as far as the atoms of the run show
// it.
func (f *flows) changed(err error, run *storage.Run, atoms []storage.Atom) error {
	if !errors.Is(err, ErrChanged) {
		return err
	}
	for _, p := range f.plans {
		if p.Flow == run.Flow {
			return fmt.Errorf("%w: %s", err, changesOf(p, atoms))
		}
	}
	return err
}

// changesOf compares a plan with the atoms that a run has begun on another plan.
func changesOf(p *flow.Plan, atoms []storage.Atom) string {
	var removed, added, reordered []string
	var begun []*storage.Atom // that the plan has, in the order of their begin
	known := map[string]bool{}
	for i := range atoms {
		a := &atoms[i]
		known[a.Path] = a.State != states.TaskPending
		switch {
		case a.State == states.TaskPending:
		case p.Index(a.Path) < 0:
			removed = append(removed, fmt.Sprintf("%s (%v)", quote(a.Path), a.State))
		case !a.StartedAt.IsZero():
			begun = append(begun, a)
		}
	}
	slices.SortFunc(begun, func(a, b *storage.Atom) int { return a.StartedAt.Compare(b.StartedAt) })
	before := map[int32]bool{} // nodes that must have run, as a node after them has begun
	for i, a := range begun {
		ancestors := nodesBefore(p, p.Atoms[p.Index(a.Path)].Node)
		for n := range ancestors {
			before[n] = true
		}
		for _, later := range begun[i+1:] {
			if later.StartedAt.After(a.StartedAt) && ancestors[p.Atoms[p.Index(later.Path)].Node] {
				reordered = append(reordered, fmt.Sprintf("%s now comes before %s", quote(later.Path), quote(a.Path)))
			}
		}
	}
	for i := range p.Atoms {
		if a := &p.Atoms[i]; before[a.Node] && !known[a.Name()] {
			added = append(added, quote(a.Name()))
		}
	}
	var parts []string
	for _, part := range []struct {
		what  string
		atoms []string
	}{{"added", added}, {"removed", removed}, {"reordered", reordered}} {
		if len(part.atoms) > 0 {
			parts = append(parts, part.what+": "+strings.Join(part.atoms, ", "))
		}
	}
	return cmp.Or(strings.Join(parts, "; "),
		"what has run is as before; the change is in atoms that have not run, in a link, "+
			"a version, or what atoms require or provide")
}

// nodesBefore returns the nodes before a node of a plan.
func nodesBefore(p *flow.Plan, node int32) map[int32]bool {
	seen := map[int32]bool{}
	for work := []int32{node}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, v := range p.Pred(n) {
			if !seen[v] {
				seen[v] = true
				work = append(work, v)
			}
		}
	}
	return seen
}
