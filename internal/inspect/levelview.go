package inspect

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/draw"
)

// LevelView returns a diagram of a part of a level, as [GrownView] draws a run. A row with steps below it is one node,
// which says that it shows many atoms.
func LevelView(l *Level, title string) draw.View {
	g := grown{view: draw.View{Title: title}}
	spans := make([]span, len(l.Rows))
	for i := range l.Rows {
		r := &l.Rows[i]
		n := draw.Node{ID: r.Path, Label: r.Name, State: r.Status, Path: r.Path, Many: r.Steps}
		if r.Items != nil {
			n.Count = r.Items.String()
		}
		if r.Steps {
			n.Label = strings.TrimSpace(r.Name + " ▸")
		}
		g.view.Nodes = append(g.view.Nodes, n)
		spans[i] = span{[]string{n.ID}, []string{n.ID}, r.Started, r.Ended}
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.began.IsZero() != b.began.IsZero() { // children that have not started come last
			return b.began.Compare(a.began)
		}
		return a.began.Compare(b.began)
	})
	g.ordered(spans)
	return g.view
}
