package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// GrownView returns a diagram of what a run has done, for a run without the diagram of [PlanView]. A line leads from
// each step to those that began next after it had ended, whatever made them begin. It has no loops, because each visit
// of a step is a node. Lines are in the order of their nodes. Very many steps are left out as in [Recorded], and
// counted. If the run has no steps, GrownView returns an error that wraps [storage.ErrNotFound].
func GrownView(ctx context.Context, store backend.Reader, run *storage.Run) (draw.View, error) {
	tree, err := Recorded(ctx, store, run, nil)
	if err != nil {
		return draw.View{}, err
	}
	if len(tree.Top.children) == 0 {
		return draw.View{}, fmt.Errorf("%w: steps of run %q", storage.ErrNotFound, run.ID)
	}
	const start, end = "\x00start", "\x00end" // no paths
	g := grown{view: draw.View{
		Title: run.Flow + "  " + run.ID, Nodes: []draw.Node{{ID: start, Label: "start", Kind: draw.Start}},
	}}
	all := g.level(&tree.Top, "")
	g.connect([]string{start}, all.first)
	if !tree.Ended.IsZero() {
		g.view.Nodes = append(g.view.Nodes, draw.Node{ID: end, Label: "end", Kind: draw.End})
		g.connect(all.last, []string{end})
	}
	at := map[string]int{}
	for i := range g.view.Nodes {
		at[g.view.Nodes[i].ID] = i
	}
	slices.SortStableFunc(g.view.Edges, func(a, b draw.Edge) int {
		return cmp.Or(at[a.From]-at[b.From], at[a.To]-at[b.To])
	})
	return g.view, nil
}

// grown is the diagram of a run as it is built.
type grown struct{ view draw.View }

// A span is a step in the diagram: its first and last nodes, and the time between.
type span struct {
	first, last  []string
	began, ended time.Time // ended is zero if the step has not ended
}

// level draws the steps below a step, in the group of that ID.
func (g *grown) level(of *Step, in string) span {
	shown, rest := of.Shown()
	var spans []span
	for _, s := range shown {
		spans = append(spans, g.step(s, in))
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.began.Compare(b.began) })
	if rest != "" {
		g.view.Nodes = append(g.view.Nodes, draw.Node{
			ID: in + "\x00rest", Label: "…", Kind: draw.Compute, State: "SUCCESS", Count: rest, In: in, Path: of.Path,
			Many: true,
		})
	}
	return g.ordered(spans)
}

// ordered connects spans, in the order in which they started, and returns the span of all of them.
func (g *grown) ordered(spans []span) span {
	var all span
	follows, followed := make([]bool, len(spans)), make([]bool, len(spans))
	for to := range spans {
		for from := range to {
			if spans[from].before(&spans[to]) && !between(spans[from+1:to], &spans[from], &spans[to]) {
				g.connect(spans[from].last, spans[to].first)
				follows[to], followed[from] = true, true
			}
		}
	}
	for i := range spans {
		s := &spans[i]
		if !follows[i] {
			all.first = append(all.first, s.first...)
		}
		if !followed[i] {
			all.last = append(all.last, s.last...)
		}
		if i == 0 {
			all.began, all.ended = s.began, s.ended
		} else if s.ended.IsZero() || !all.ended.IsZero() && s.ended.After(all.ended) {
			all.ended = s.ended
		}
	}
	return all
}

// step draws a step: a node, or a group if it has steps.
func (g *grown) step(s *Step, in string) span {
	if len(s.children) > 0 {
		g.view.Groups = append(g.view.Groups, draw.Group{ID: s.Path, Label: s.Name, In: in})
		return g.level(s, s.Path)
	}
	n := draw.Node{ID: s.Path, Label: s.Name, State: string(s.Status()), In: in, Path: s.Path}
	if s.Timer || s.Wait != "" {
		n.Kind = draw.Wait
	}
	g.view.Nodes = append(g.view.Nodes, n)
	return span{[]string{n.ID}, []string{n.ID}, s.Began, s.Ended}
}

// before reports whether a step that began no later than the other had ended when the other began.
func (s *span) before(other *span) bool { return !s.ended.IsZero() && !s.ended.After(other.began) }

// between reports whether one of the steps came after the first one and before the other.
func between(steps []span, one, other *span) bool {
	return slices.ContainsFunc(steps, func(s span) bool { return one.before(&s) && s.before(other) })
}

// connect draws a line from each of some nodes to each of others. Lines from several nodes to several meet in a
// junction.
func (g *grown) connect(from, to []string) {
	if len(from) > 1 && len(to) > 1 {
		joint := fmt.Sprint("\x00joint ", len(g.view.Nodes))
		g.view.Nodes = append(g.view.Nodes, draw.Node{ID: joint, Kind: draw.Junction})
		g.connect(from, []string{joint})
		from = []string{joint}
	}
	for _, a := range from {
		for _, b := range to {
			g.view.Edges = append(g.view.Edges, draw.Edge{From: a, To: b})
		}
	}
}
