package console

import (
	"cmp"
	"context"
	"errors"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
)

// comparedRuns draws two runs as one graph: what became of each step, and the ways that only one of them took. If one
// of them has nothing to draw yet, there is no graph.
func (v *visit) comparedRuns(ctx context.Context, runs [2]*runPage, steps map[string]*comparedStep) (node, error) {
	var pictures [2]draw.View
	var became [2]map[string]*draw.Node // by their IDs
	var took [2]map[draw.Edge]bool      // the ways, without what a run made of them
	for side, p := range runs {
		var err error
		if pictures[side], _, err = p.picture(ctx); errors.Is(err, storage.ErrNotFound) {
			return none, nil
		} else if err != nil {
			return nil, err
		}
		became[side], took[side] = map[string]*draw.Node{}, map[draw.Edge]bool{}
		for i := range pictures[side].Nodes {
			n := &pictures[side].Nodes[i]
			became[side][n.ID] = n
		}
		for _, e := range pictures[side].Edges {
			if e.Taken {
				took[side][wayOf(e)] = true
			}
		}
	}
	pathOf := pathsIn(&pictures[1])
	both := draw.Compare(pictures[0], pictures[1], func(n *draw.Node) bool {
		a, b, s := became[0][n.ID], became[1][n.ID], steps[pathOf(n)]
		if n.Many {
			s = nil
		}
		return n.Kind != draw.Junction &&
			(executed(a.State) != executed(b.State) || a.Count != b.Count || s != nil && len(s.differs([2]string{})) > 0)
	})
	both.Title = runs[0].run.ID + "  ≠  " + runs[1].run.ID
	for i := range both.Nodes {
		n := &both.Nodes[i]
		a, b := became[0][n.ID], became[1][n.ID]
		switch n.State {
		case "":
			n.State = b.State
		case draw.Changed:
			n.Count = bothStates(cmp.Or(a.Count, a.State, "–"), cmp.Or(b.Count, b.State, "–"))
		case draw.Added:
			n.Count = cmp.Or(b.Count, b.State)
		case draw.Removed:
			n.Count = cmp.Or(a.Count, a.State)
		}
	}
	for i := range both.Edges {
		e := &both.Edges[i]
		in, now := took[0][wayOf(*e)], took[1][wayOf(*e)]
		e.Taken, e.Maybe = e.Taken || now && !in, e.Maybe || in && !now
	}
	id := func(side int) node { return words(runs[side].run.ID) }
	return fragment{
		v.pictured(both, draw.SVGOptions{Bare: true, Link: func(n *draw.Node) string {
			run, path := runs[1], pathOf(n)
			if n.State == draw.Removed {
				run = runs[0]
			}
			if path == "" || n.State == "" || n.Kind == draw.Start || n.Kind == draw.End || n.Many {
				return ""
			}
			return string(link("run", "id", run.run.ID, "view", "graph", "atom", path))
		}}),
		soft(say("≠ differs: the state in {0} comes first, then that in {1}; with {2} only the results differ. + and thick "+
			"lines are in {1} only, − and dashed ones in {0} only.", id(0), id(1), words(otherResult))),
	}, nil
}

// otherResult marks a step that became the same in both runs, with another result.
const otherResult = " {≠}"

// bothStates says what became of a step that differs.
func bothStates(was, is string) string {
	if was == is {
		return is + otherResult
	}
	return was + " | " + is
}

// wayOf returns an edge without what a run made of it.
func wayOf(e draw.Edge) draw.Edge { return draw.Edge{From: e.From, To: e.To, Label: e.Label} }
