package draw

// What became of a node between two versions of a flow: texts of [Node.State].
const (
	Added   = "ADDED"
	Removed = "REMOVED"
	Changed = "CHANGED"
)

// Compare returns one view of two versions of a flow. The State of a node says whether it was [Added], [Removed] or
// [Changed]; otherwise it is "". changed reports whether a node that both views have, by its ID, is another one. An
// edge that only now has is drawn thick, and one that only old has is dashed.
func Compare(old, now View, changed func(n *Node) bool) View {
	out := View{Title: now.Title, Groups: now.Groups}
	groups := map[string]bool{}
	for i := range now.Groups {
		groups[now.Groups[i].ID] = true
	}
	for _, g := range old.Groups {
		if !groups[g.ID] {
			out.Groups = append(out.Groups, g)
		}
	}
	was, is := map[string]Node{}, map[string]bool{}
	for _, n := range old.Nodes {
		was[n.ID] = n
	}
	for _, n := range now.Nodes {
		is[n.ID] = true
		n.State = ""
		if before, both := was[n.ID]; !both {
			n.State = Added
		} else if before.Kind != n.Kind || before.Label != n.Label || before.In != n.In || changed(&n) {
			n.State = Changed
		}
		out.Nodes = append(out.Nodes, n)
	}
	for _, n := range old.Nodes {
		if !is[n.ID] {
			n.State = Removed
			out.Nodes = append(out.Nodes, n)
		}
	}
	edges := map[Edge]bool{}
	for _, e := range old.Edges {
		edges[plainEdge(e)] = true
	}
	for _, e := range now.Edges {
		e.Taken, e.Maybe = !edges[plainEdge(e)], false
		delete(edges, plainEdge(e))
		out.Edges = append(out.Edges, e)
	}
	for _, e := range old.Edges {
		if edges[plainEdge(e)] {
			e.Taken, e.Maybe = false, true
			out.Edges = append(out.Edges, e)
		}
	}
	return out
}

// plainEdge returns an edge as versions are compared.
func plainEdge(e Edge) Edge { return Edge{From: e.From, To: e.To, Label: e.Label} }
