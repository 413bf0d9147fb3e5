package draw

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SVGOptions set how [SVG] draws a view. The zero SVGOptions draw a file that stands on its own.
type SVGOptions struct {
	// Bare leaves out the colors, for a page whose style sheet contains [SVGStyle].
	Bare bool
	// Link returns the address that a node links to; "" means none. If Link is nil, no node is a link.
	Link func(n *Node) string
	// Selected is the ID of the node that is marked; "" means none.
	Selected string
	// Undone are IDs of nodes in the order in which they were undone. A dashed line leads from each to the next.
	Undone []string
	// Zoom is how many times as large the image is shown as it is laid out; 0 means once.
	Zoom float64
}

// SVG returns the view as an SVG image, laid out by [Place]. Each state has a symbol beside its color, and the colors
// follow the reader's preference for light or dark. The image contains no script, and refers to nothing outside.
func SVG(v View, o SVGOptions) string {
	p := Place(v)
	if len(o.Undone) > 0 {
		p.Width += nodeGap + groupMargin // for the way back, which is to the right of the nodes
	}
	s := &svg{view: &v, options: o, nodes: make(map[string]*PlacedNode, len(p.Nodes))}
	for i := range p.Nodes {
		s.nodes[v.Nodes[p.Nodes[i].Index].ID] = &p.Nodes[i]
	}
	named := s.labels(&p)
	role := "img"
	if o.Link != nil {
		role = "group" // an image hides the links in it from screen readers
	}
	zoom := cmp.Or(o.Zoom, 1)
	s.f(`<svg xmlns="http://www.w3.org/2000/svg" class="ebb" width="%s" height="%s" viewBox="0 0 %s %s" role="%s">`,
		px(p.Width*zoom), px(p.Height*zoom), px(p.Width), px(p.Height), role)
	s.f("<title>%s</title>", svgText(cmp.Or(v.Title, "flow")))
	if !o.Bare {
		s.out.WriteString("<style>svg.ebb{background:var(--bg)}" + SVGStyle() + "</style>")
	}
	s.out.WriteString(`<defs><marker id="ebb-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" ` +
		`markerUnits="userSpaceOnUse" ` +
		`orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>`)
	if v.Title != "" {
		s.f(`<text class="name" x="%d" y="%d">%s</text>`, pageMargin, pageMargin+lineHeight/2, svgText(clipped(v.Title)))
	}
	for i := range p.Groups {
		s.group(&p.Groups[i])
	}
	for i := range p.Edges {
		s.edge(&p.Edges[i])
	}
	for i := range p.Nodes {
		s.node(&p.Nodes[i])
	}
	s.undone()
	for i, at := range named { // above the lines, of which they are the names
		if text := v.Edges[p.Edges[i].Index].Label; text != "" {
			s.f(`<text class="label" text-anchor="middle" x="%s" y="%s">%s</text>`, px(at.X), px(at.Y+4), svgText(clipped(text)))
		}
	}
	s.out.WriteString("</svg>\n")
	return s.out.String()
}

// An svg is an incomplete image.
type svg struct {
	out     strings.Builder
	view    *View
	options SVGOptions
	nodes   map[string]*PlacedNode // by ID
}

func (s *svg) f(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

func (s *svg) group(g *PlacedGroup) {
	x, y := g.X-g.Width/2, g.Y-g.Height/2
	s.f(`<rect class="group" x="%s" y="%s" width="%s" height="%s" rx="8"/>`, px(x), px(y), px(g.Width), px(g.Height))
	if label := s.view.Groups[g.Index].Label; label != "" {
		s.f(`<text class="label" x="%s" y="%s">%s</text>`, px(x+groupMargin/2), px(y+lineHeight), svgText(clipped(label)))
	}
}

func (s *svg) edge(e *PlacedEdge) {
	edge := &s.view.Edges[e.Index]
	class := "edge"
	switch {
	case edge.Taken:
		class += " taken"
	case edge.Maybe:
		class += " maybe"
	}
	s.f(`<path class="%s" marker-end="url(#ebb-tip)" d="M%s %s`, class, px(e.Points[0].X), px(e.Points[0].Y))
	last := e.Points[0]
	for _, p := range e.Points[1:] {
		if e.Back {
			s.f("L%s %s", px(p.X), px(p.Y))
		} else {
			middle := (last.Y + p.Y) / 2 //nolint:mnd // of the two
			s.f("C%s %s %s %s %s %s", px(last.X), px(middle), px(p.X), px(middle), px(p.X), px(p.Y))
		}
		last = p
	}
	s.out.WriteString(`"/>`)
}

// labels returns where the labels of the edges are, in their order, and makes the image as wide as they need.
func (s *svg) labels(p *Placed) []Point {
	l := labels{placed: map[[2]int][]Box{}}
	if !slices.ContainsFunc(s.view.Edges, func(e Edge) bool { return e.Label != "" }) {
		return nil
	}
	for i := range p.Nodes {
		l.add(p.Nodes[i].Box)
	}
	for i, id := range s.options.Undone {
		if n := s.nodes[id]; n != nil {
			l.add(numberBox(n, i+1))
		}
	}
	at := make([]Point, len(p.Edges))
	for i := range p.Edges {
		if text := s.view.Edges[p.Edges[i].Index].Label; text != "" {
			at[i] = l.place(&p.Edges[i], clipped(text))
		}
	}
	p.Width = max(p.Width, l.right+pageMargin)
	return at
}

func (s *svg) node(at *PlacedNode) {
	n := &s.view.Nodes[at.Index]
	link := ""
	if s.options.Link != nil {
		link = s.options.Link(n)
	}
	if link != "" {
		s.f(`<a href="%s">`, svgText(link))
	}
	class := "node " + stateClass(n.State)
	if n.ID == s.options.Selected {
		class += " selected"
	}
	s.f(`<g class="%s" transform="translate(%s %s)">`, class, px(at.X), px(at.Y))
	if n.Kind != Junction {
		title := cmp.Or(n.Label, n.ID)
		if n.State != "" {
			title += "\n" + cmp.Or(n.Count, n.State)
		}
		s.f("<title>%s</title>", svgText(title))
	}
	s.shape(n.Kind, at.Width, at.Height)
	s.lines(shownLines(n))
	s.out.WriteString("</g>")
	if link != "" {
		s.out.WriteString("</a>")
	}
}

// lines writes the text of a node around the origin.
func (s *svg) lines(lines []string) {
	y := -float64(len(lines)-1) * lineHeight / 2
	for i, line := range lines {
		class := "name"
		if i > 0 {
			class = "state"
		}
		if line != "" {
			s.f(`<text class="%s" text-anchor="middle" y="%s">%s</text>`, class, px(y+4+float64(i*lineHeight)), svgText(line))
		}
	}
}

// undone draws the way back: a number at each node that was undone, and lines between them.
func (s *svg) undone() {
	var last *PlacedNode
	var numbers strings.Builder // above the lines
	for i, id := range s.options.Undone {
		n := s.nodes[id]
		if n == nil {
			continue
		}
		x, y := n.X+n.Width/2, n.Y
		if last != nil {
			from := last.X + last.Width/2
			side := max(from, x) + nodeGap
			s.f(`<path class="undo" marker-end="url(#ebb-tip)" d="M%s %sC%s %s %s %s %s %s"/>`, px(from), px(last.Y-6), px(side),
				px(last.Y-6), px(side), px(y+6), px(x), px(y+6))
		}
		box := numberBox(n, i+1)
		fmt.Fprintf(&numbers, `<text class="label" x="%s" y="%s">↶%d</text>`, px(box.X-box.Width/2), px(box.Y+4), i+1)
		last = n
	}
	s.out.WriteString(numbers.String())
}

// shape draws the outline of a node around the origin.
func (s *svg) shape(kind Kind, width, height float64) {
	w, h := width/2, height/2
	switch kind {
	case Junction:
		s.f(`<circle class="dot" r="%s"/>`, px(w))
	case Choice:
		s.polygon(-w, 0, -w+nodePadding, -h, w-nodePadding, -h, w, 0, w-nodePadding, h, -w+nodePadding, h)
	case Retry:
		s.polygon(-w, 0, -w+8, -h, w-8, -h, w, 0, w-8, h, -w+8, h)
	case Wait:
		s.polygon(-w+10, -h, w, -h, w-10, h, -w, h)
	case Undoable:
		s.rectangle(w, h, 6)
		s.f(`<path class="twice" d="M%s %sV%s M%s %sV%s"/>`, px(-w+4), px(-h+3), px(h-3), px(w-4), px(-h+3), px(h-3))
	case Start, End:
		s.rectangle(w, h, h)
	case Compute:
		s.rectangle(w, h, 12) //nolint:mnd // rounder than a task
	default:
		s.rectangle(w, h, 6)
	}
}

func (s *svg) rectangle(w, h, radius float64) {
	s.f(`<rect class="shape" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, px(-w), px(-h), px(2*w), px(2*h),
		px(radius))
}

func (s *svg) polygon(points ...float64) {
	s.out.WriteString(`<polygon class="shape" points="`)
	for i, p := range points {
		if i > 0 {
			s.out.WriteByte(' ')
		}
		s.out.WriteString(px(p))
	}
	s.out.WriteString(`"/>`)
}

// pivotMark is before the name of a point of no return.
const pivotMark = "⊥ "

// shownLines returns the lines of a node's text: its name, and what became of it with a symbol.
func shownLines(n *Node) []string {
	if n.Kind == Junction {
		return []string{""}
	}
	lines := []string{clipped(cmp.Or(n.Label, n.ID))}
	if n.Pivot {
		lines[0] = pivotMark + lines[0]
	}
	if _, colored := colors[n.State]; colored {
		lines = append(lines, strings.TrimLeft(traceSymbols[n.State]+" ", " ")+clipped(cmp.Or(n.Count, n.State)))
	}
	return lines
}

// clipped returns the first characters of a text, on one line.
func clipped(text string) string {
	text = strings.Join(strings.Fields(printable(text)), " ")
	if utf8.RuneCountInString(text) <= mostLabel {
		return text
	}
	return string([]rune(text)[:mostLabel-1]) + "…"
}

// svgText returns text as the content of an element or an attribute.
func svgText(text string) string { return html.EscapeString(printable(text)) }

// px formats a number of pixels.
func px(f float64) string { return strconv.FormatFloat(float64(int(f*10+0.5*sign(f)))/10, 'f', -1, 64) }

func sign(f float64) float64 {
	if f < 0 {
		return -1
	}
	return 1
}

// stateClass returns the class of a node in a state; only of states that have a color.
func stateClass(state string) string {
	if _, colored := colors[state]; !colored {
		return "s-none"
	}
	return "s-" + strings.ToLower(strings.ReplaceAll(state, "_", "-"))
}
