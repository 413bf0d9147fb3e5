package draw

import (
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/visible"
)

// A tree contains a view's nodes and groups in their nesting.
type tree struct {
	view   *View
	index  map[string]int   // of nodes, by ID
	nodes  map[string][]int // by the ID of their group
	groups map[string][]int
}

func treeOf(v *View) *tree {
	t := &tree{
		view: v, index: make(map[string]int, len(v.Nodes)), nodes: map[string][]int{},
		groups: map[string][]int{},
	}
	known := make(map[string]bool, len(v.Groups))
	in := func(id string) string {
		if known[id] {
			return id
		}
		return ""
	}
	for i, g := range v.Groups {
		if g.ID != "" && !known[g.ID] {
			t.groups[in(g.In)] = append(t.groups[in(g.In)], i)
			known[g.ID] = true
		}
	}
	for i, n := range v.Nodes {
		if _, twice := t.index[n.ID]; !twice {
			t.index[n.ID] = i
			t.nodes[in(n.In)] = append(t.nodes[in(n.In)], i)
		}
	}
	return t
}

// A writer writes one diagram language.
type writer interface {
	node(indent int, name string, n *Node)
	begin(indent int, name string, g *Group)
	end(indent int)
	edge(from, to string, e *Edge)
}

// write passes all of the view to w: each group's nodes, then the groups in it,
// then the edges.
func (t *tree) write(w writer) {
	t.inside("", 1, w)
	for i := range t.view.Edges {
		e := &t.view.Edges[i]
		from, known := t.index[e.From]
		to, also := t.index[e.To]
		if known && also {
			w.edge(nameOf(from), nameOf(to), e)
		}
	}
}

func (t *tree) inside(group string, indent int, w writer) {
	for _, i := range t.nodes[group] {
		n := &t.view.Nodes[i]
		w.node(indent, nameOf(i), n)
	}
	for _, i := range t.groups[group] {
		g := &t.view.Groups[i]
		w.begin(indent, "g"+strconv.Itoa(i), g)
		t.inside(g.ID, indent+1, w)
		w.end(indent)
	}
}

// nameOf returns the name of a node, which is valid in every diagram language.
func nameOf(node int) string { return "n" + strconv.Itoa(node) }

// printable returns s without invisible characters, with its line breaks.
func printable(s string) string { return strings.ReplaceAll(visible.Lines(s), "\t", " ") }
