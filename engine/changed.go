package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/planview"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// changed adds to an [ErrChanged] what the flow has added, removed or reordered. It compares the flow with the atoms of
// the run and with the diagram of the flow on which the run began.
func (f *flows) changed(
	ctx context.Context, store storage.NamedRecords, err error, run *storage.Run, atoms []storage.Atom,
) error {
	if _, is := errors.AsType[*changedError](err); !is {
		return err
	}
	for _, p := range f.plans {
		if p.Flow != run.Flow {
			continue
		}
		return &changedError{run.ID, changesSince(ctx, store, p, run, atoms) + "; "}
	}
	return err
}

// changesSince says what a plan has added, removed or reordered since a run began.
func changesSince(
	ctx context.Context, store storage.NamedRecords, p *flow.Plan, run *storage.Run, atoms []storage.Atom,
) string {
	c := changesOf(p, atoms)
	if was, err := planview.Read(ctx, store, run.Structure); err == nil {
		c.inDiagrams(was, draw.OfPlan(p))
	}
	if was, err := planview.ReadFacts(ctx, store, run.Structure); err == nil {
		c.inFacts(was, p)
	}
	return c.String()
}

// changes are what differs between two versions of a flow, as texts.
type changes struct{ removed, added, reordered, changed []string }

// String lists the changes.
func (c *changes) String() string {
	var parts []string
	for _, part := range []struct {
		what  string
		atoms []string
	}{{"added", c.added}, {"removed", c.removed}, {"reordered", c.reordered}, {"changed", c.changed}} {
		if len(part.atoms) > 0 {
			parts = append(parts, part.what+": "+strings.Join(part.atoms, ", "))
		}
	}
	return cmp.Or(strings.Join(parts, "; "),
		"it has the same atoms in the same order; the change is in the flows around them, a version, or what atoms "+
			"require or provide")
}

// changesOf compares a plan with the atoms that a run has begun on another plan.
func changesOf(p *flow.Plan, atoms []storage.Atom) changes {
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
	return changes{removed: removed, added: added, reordered: reordered}
}

// inDiagrams adds the differences between two diagrams that concern no atom that has begun.
func (c *changes) inDiagrams(was, now draw.View) {
	had, has := nodesOf(&was), nodesOf(&now)
	note := func(list *[]string, text string) {
		if !slices.ContainsFunc(*list, func(had string) bool { return had == text || strings.HasPrefix(had, text+" ") }) {
			*list = append(*list, text)
		}
	}
	c.added = nil // the diagrams know it better than the atoms that have begun
	for i := range now.Nodes {
		if id := now.Nodes[i].ID; has[id] && !had[id] {
			note(&c.added, quote(id))
		}
	}
	for i := range was.Nodes {
		if id := was.Nodes[i].ID; had[id] && !has[id] {
			note(&c.removed, quote(id))
		}
	}
	if len(c.added)+len(c.removed)+len(c.reordered) > 0 {
		return // the edges follow from these
	}
	followed, follows := edgesOf(&was), edgesOf(&now)
	for i := range now.Edges {
		if e := pairOf(&now.Edges[i]); !followed[e] && has[e.From] && has[e.To] {
			c.reordered = append(c.reordered, quote(e.To)+" now follows "+quote(e.From))
		}
	}
	for i := range was.Edges {
		if e := pairOf(&was.Edges[i]); !follows[e] && has[e.From] && has[e.To] {
			c.reordered = append(c.reordered, quote(e.To)+" no longer follows "+quote(e.From))
		}
	}
}

// inFacts adds what the atoms of both versions require, provide or run in only one of them.
func (c *changes) inFacts(was map[string][]string, p *flow.Plan) {
	now := planview.FactsOf(p)
	for i := range p.Atoms {
		name := p.Atoms[i].Name()
		had, known := was[name]
		if !known {
			continue
		}
		for _, fact := range now[name] {
			if !slices.Contains(had, fact) {
				c.changed = append(c.changed, quote(name)+" now "+fact)
			}
		}
		for _, fact := range had {
			if !slices.Contains(now[name], fact) {
				c.changed = append(c.changed, quote(name)+" no longer "+fact)
			}
		}
	}
}

// nodesOf returns the IDs of the nodes that are atoms.
func nodesOf(v *draw.View) map[string]bool {
	ids := map[string]bool{}
	for i := range v.Nodes {
		if v.Nodes[i].Kind != draw.Junction {
			ids[v.Nodes[i].ID] = true
		}
	}
	return ids
}

func edgesOf(v *draw.View) map[draw.Edge]bool {
	edges := map[draw.Edge]bool{}
	for i := range v.Edges {
		edges[pairOf(&v.Edges[i])] = true
	}
	return edges
}

func pairOf(e *draw.Edge) draw.Edge { return draw.Edge{From: e.From, To: e.To} }

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
