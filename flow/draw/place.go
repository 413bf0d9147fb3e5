package draw

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// A Placed view is a diagram with positions, in pixels from the top left corner. [Place] computes it.
type Placed struct {
	Width, Height float64
	Nodes         []PlacedNode  // in the order of the view, without nodes whose ID is taken
	Groups        []PlacedGroup // a group follows the group that contains it
	Edges         []PlacedEdge  // edges between known nodes
}

// A Box is a place in a diagram: its center and its size.
type Box struct{ X, Y, Width, Height float64 }

// A PlacedNode says where the picture of a view has one of its nodes.
type PlacedNode struct {
	Box
	Index int // of the node in the view
}

// A PlacedGroup says where the picture of a view has the frame of one of its groups.
type PlacedGroup struct {
	Box
	Index int // of the group in the view
}

// A PlacedEdge is the line that the picture of a view has for one of its edges.
type PlacedEdge struct {
	Points []Point // from the lower side of a node to the upper side of another; at least two
	Index  int     // of the edge in the view
	Back   bool    // it leads up, against the direction of the others
}

// A Point is a position in a diagram.
type Point struct{ X, Y float64 }

// Sizes of a diagram in pixels, for a font of 13 pixels.
const (
	charWidth   = 7.4
	lineHeight  = 16
	nodePadding = 12
	leastWidth  = 56
	nodeHeight  = 34
	dotSize     = 10
	nodeGap     = 22
	layerGap    = 36
	groupMargin = 14
	groupTitle  = 20
	pageMargin  = 12
	mostLabel   = 32 // characters of a label that are shown
)

// sizeOf returns the size of a node.
func sizeOf(n *Node) (width, height float64) {
	if n.Kind == Junction {
		return dotSize, dotSize
	}
	widest, lines := 0, shownLines(n)
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	width = max(leastWidth, float64(widest)*charWidth+2*nodePadding)
	if n.Kind == Choice || n.Kind == Retry || n.Kind == Wait {
		width += 2 * nodePadding
	}
	return width, nodeHeight + float64(len(lines)-1)*lineHeight
}

// A layout is an incomplete [Placed] view. Each group is laid out by itself, and then stands in the group around it as
// one item. So the frames of groups never overlap, and the cost grows with the size of the view.
type layout struct {
	tree    *tree
	nodes   []Box // by the index of the node; its corner within its group until the end
	groups  []Box // by the index of the group
	parents []int // of the nodes: index of their group, or -1
	outer   []int // of the groups: index of the group around, or -1
	ends    []ends
	// position of the nodes, and after them of the groups, among the items of their group
	position []int32
	edges    [][]link  // by the group in which they are between two items, at 1 + its index
	ways     [][]Point // of the edges: their bends within the group in which they are between two items
}

// ends are the indexes of the nodes that an edge connects; -1 if the view does not have both.
type ends struct{ from, to int }

// A link is an edge between two items of a group.
type link struct {
	from, to item
	edge     int // index in the view
}

// An item of a group is a node in it, or a group in it.
type item struct {
	index int
	group bool
}

// Place lays a view out in layers: each node is below the nodes that lead to it, and an edge of a loop leads back up.
// It orders the nodes of each layer so that few edges cross. The same view gives the same places.
func Place(v View) Placed {
	l := newLayout(&v)
	width, height := l.place(-1)
	p := Placed{Width: width, Height: height}
	l.shift(-1, 0, 0, &p)
	slices.SortFunc(p.Nodes, func(a, b PlacedNode) int { return cmp.Compare(a.Index, b.Index) })
	p.Edges = make([]PlacedEdge, 0, len(v.Edges))
	for i, e := range l.ends {
		if e.from >= 0 {
			p.Edges = append(p.Edges, l.edge(i, e))
		}
	}
	return p
}

func newLayout(v *View) *layout {
	l := &layout{
		tree: treeOf(v), nodes: make([]Box, len(v.Nodes)), groups: make([]Box, len(v.Groups)),
		parents: make([]int, len(v.Nodes)), outer: make([]int, len(v.Groups)), ends: make([]ends, len(v.Edges)),
		position: make([]int32, len(v.Nodes)+len(v.Groups)),
		edges:    make([][]link, len(v.Groups)+1), ways: make([][]Point, len(v.Edges)),
	}
	l.nest("", -1)
	for i := range v.Edges {
		e := &v.Edges[i]
		from, known := l.tree.index[e.From]
		to, also := l.tree.index[e.To]
		if !known || !also {
			from, to = -1, -1
		}
		if l.ends[i] = (ends{from, to}); from != to {
			l.link(from, to, i)
		}
	}
	return l
}

// nest notes which group contains what.
func (l *layout) nest(id string, index int) {
	for _, n := range l.tree.nodes[id] {
		node := &l.tree.view.Nodes[n]
		l.parents[n] = index
		l.nodes[n].Width, l.nodes[n].Height = sizeOf(node)
	}
	for _, g := range l.tree.groups[id] {
		l.outer[g] = index
		l.nest(l.tree.view.Groups[g].ID, g)
	}
}

// link adds an edge to the innermost group that contains both of its ends.
func (l *layout) link(from, to, edge int) {
	a, b := item{index: from}, item{index: to}
	if g := l.parents[from]; g == l.parents[to] {
		l.edges[g+1] = append(l.edges[g+1], link{a, b, edge})
		return
	}
	up, down := l.around(from), l.around(to)
	for len(up) > 0 && len(down) > 0 && up[len(up)-1] == down[len(down)-1] {
		up, down = up[:len(up)-1], down[:len(down)-1]
	}
	within := l.parents[from]
	if len(up) > 0 {
		a = item{up[len(up)-1], true}
		within = l.outer[a.index]
	}
	if len(down) > 0 {
		b = item{down[len(down)-1], true}
		within = l.outer[b.index]
	}
	l.edges[within+1] = append(l.edges[within+1], link{a, b, edge})
}

// around returns the groups around a node, the innermost first.
func (l *layout) around(node int) []int {
	var list []int
	for g := l.parents[node]; g >= 0; g = l.outer[g] {
		list = append(list, g)
	}
	return list
}

// place lays out what is in a group, and returns the size of that.
func (l *layout) place(group int) (width, height float64) {
	id := ""
	if group >= 0 {
		id = l.tree.view.Groups[group].ID
	}
	nodes, groups := l.tree.nodes[id], l.tree.groups[id]
	s := newLayers(len(nodes)+len(groups), l.edges[group+1])
	for _, n := range nodes {
		s.add(item{index: n}, l.nodes[n].Width, l.nodes[n].Height)
	}
	for _, g := range groups {
		w, h := l.place(g)
		l.groups[g].Width, l.groups[g].Height = w, h
		s.add(item{g, true}, w, h)
	}
	s.link(l.positions(nodes, groups))
	margin, top := float64(groupMargin), float64(groupMargin)
	switch {
	case group < 0 && l.tree.view.Title != "":
		margin, top = pageMargin, pageMargin+groupTitle
	case group < 0:
		margin, top = pageMargin, pageMargin
	case l.tree.view.Groups[group].Label != "":
		top += groupTitle
	}
	width, height = s.arrange(margin, top)
	for i, it := range s.items {
		boxes := l.nodes
		if it.group {
			boxes = l.groups
		}
		box := &boxes[it.index]
		box.X, box.Y = s.x[i], s.y[i]
	}
	for _, c := range s.chains {
		l.ways[c.edge] = s.bends(c)
	}
	if group < 0 && l.tree.view.Title != "" {
		width = max(width, float64(utf8.RuneCountInString(clipped(l.tree.view.Title)))*charWidth+2*pageMargin)
	} else if group >= 0 {
		label := float64(utf8.RuneCountInString(clipped(l.tree.view.Groups[group].Label)))
		width = max(width, label*charWidth+2*groupMargin)
	}
	return width, height
}

// positions returns where each item of a group stands among them. Groups follow nodes.
func (l *layout) positions(nodes, groups []int) func(item) int32 {
	for i, n := range nodes {
		l.position[n] = int32(i)
	}
	for i, g := range groups {
		l.position[len(l.nodes)+g] = int32(len(nodes) + i)
	}
	return func(it item) int32 {
		if it.group {
			return l.position[len(l.nodes)+it.index]
		}
		return l.position[it.index]
	}
}

// shift moves what is in a group to its place in the diagram, given the corner of the group.
func (l *layout) shift(group int, x, y float64, p *Placed) {
	id := ""
	if group >= 0 {
		id = l.tree.view.Groups[group].ID
	}
	for _, n := range l.tree.nodes[id] {
		l.nodes[n].X += x
		l.nodes[n].Y += y
		p.Nodes = append(p.Nodes, PlacedNode{l.nodes[n], n})
	}
	for _, e := range l.edges[group+1] {
		points := l.ways[e.edge]
		for i := range points {
			points[i].X += x
			points[i].Y += y
		}
	}
	for _, g := range l.tree.groups[id] {
		box := &l.groups[g]
		box.X += x
		box.Y += y
		p.Groups = append(p.Groups, PlacedGroup{*box, g})
		l.shift(g, box.X-box.Width/2, box.Y-box.Height/2, p)
	}
}

// edge returns the way of an edge.
func (l *layout) edge(index int, e ends) PlacedEdge {
	a, b := &l.nodes[e.from], &l.nodes[e.to]
	if e.from == e.to {
		right := a.X + a.Width/2
		return PlacedEdge{
			[]Point{{right, a.Y - 6}, {right + nodeGap, a.Y}, {right, a.Y + 6}}, index, true,
		}
	}
	if b.Y-b.Height/2 < a.Y+a.Height/2 { // up, or beside
		side := max(a.X+a.Width/2, b.X+b.Width/2) + nodeGap/2
		return PlacedEdge{
			[]Point{{a.X + a.Width/2, a.Y}, {side, a.Y - nodeHeight/2}, {side, b.Y + nodeHeight/2}, {b.X + b.Width/2, b.Y}},
			index, true,
		}
	}
	points := make([]Point, 0, len(l.ways[index])+2)
	points = append(append(points, Point{a.X, a.Y + a.Height/2}), l.ways[index]...)
	return PlacedEdge{append(points, Point{b.X, b.Y - b.Height/2}), index, false}
}
