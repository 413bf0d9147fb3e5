package draw_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/flow/draw"
)

// layered returns a view of n nodes, and of two edges from each to one of the next nodes.
func layered(n int) draw.View {
	random := rand.New(rand.NewPCG(1, 2))
	var v draw.View
	for i := range n {
		v.Nodes = append(v.Nodes, draw.Node{ID: fmt.Sprint("n", i)})
		for range 2 {
			v.Edges = append(v.Edges, draw.Edge{
				From: fmt.Sprint("n", i), To: fmt.Sprint("n", min(n-1, i+1+random.IntN(200))),
			})
		}
	}
	return v
}

// TestPlacesDoNotOverlap: of any view, no two nodes lie on each other, each is in its group's frame, and edges that are
// not part of a loop lead down.
func TestPlacesDoNotOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyView().Draw(t, "view")
		p := draw.Place(v)
		frames := map[string]draw.Box{"": {X: p.Width / 2, Y: p.Height / 2, Width: p.Width, Height: p.Height}}
		for _, g := range p.Groups {
			frames[v.Groups[g.Index].ID] = g.Box
		}
		for i, a := range p.Nodes {
			if frame, ok := frames[v.Nodes[a.Index].In]; ok && !inside(a.Box, frame) {
				t.Errorf("%+v of %+v is not in %+v", a, v.Nodes[a.Index], frame)
			}
			for _, b := range p.Nodes[:i] {
				if overlap(a.Box, b.Box) {
					t.Errorf("%+v and %+v overlap", a, b)
				}
			}
		}
	})
}

func inside(a, b draw.Box) bool {
	const rounding = 0.01
	return a.X-a.Width/2 >= b.X-b.Width/2-rounding && a.X+a.Width/2 <= b.X+b.Width/2+rounding &&
		a.Y-a.Height/2 >= b.Y-b.Height/2-rounding && a.Y+a.Height/2 <= b.Y+b.Height/2+rounding
}

func overlap(a, b draw.Box) bool {
	const rounding = 0.01
	return abs(a.X-b.X) < (a.Width+b.Width)/2-rounding && abs(a.Y-b.Y) < (a.Height+b.Height)/2-rounding
}

func abs(x float64) float64 { return max(x, -x) }

// TestPlaceLeadsDown: without a loop, each edge leads to a node below.
func TestPlaceLeadsDown(t *testing.T) {
	t.Parallel()
	p := draw.Place(layered(500))
	if len(p.Nodes) != 500 || len(p.Edges) < 990 {
		t.Fatalf("%d nodes, %d edges", len(p.Nodes), len(p.Edges))
	}
	for _, e := range p.Edges {
		if first, last := e.Points[0], e.Points[len(e.Points)-1]; !e.Back && first.Y >= last.Y {
			t.Errorf("an edge leads from %v to %v", first, last)
		}
	}
}

// TestFewCrossings: two chains side by side that are listed crosswise do not cross.
func TestFewCrossings(t *testing.T) {
	t.Parallel()
	p := draw.Place(draw.View{
		Nodes: []draw.Node{{ID: "a1"}, {ID: "b1"}, {ID: "b2"}, {ID: "a2"}, {ID: "a3"}, {ID: "b3"}},
		Edges: []draw.Edge{{From: "a1", To: "a2"}, {From: "b1", To: "b2"}, {From: "a2", To: "a3"}, {From: "b2", To: "b3"}},
	})
	left := func(i int) bool { return p.Nodes[i].X < p.Nodes[[]int{1, 0, 3, 2, 5, 4}[i]].X }
	if left(0) != left(3) || left(3) != left(4) {
		t.Errorf("the chains cross: %+v", p.Nodes)
	}
}

// TestSVGIsXML: for any view, the image is well-formed, and has no element or attribute but its own.
func TestSVGIsXML(t *testing.T) {
	t.Parallel()
	const elements = " svg title style defs marker path text rect circle polygon g a "
	const attributes = " xmlns markerUnits class width height viewBox role id refX refY markerWidth markerHeight orient d x y rx r " +
		"points marker-end text-anchor transform href "
	rapid.Check(t, func(t *rapid.T) {
		v := anyView().Draw(t, "view")
		image := draw.SVG(v, draw.SVGOptions{Link: func(n *draw.Node) string { return "?atom=" + n.ID }, Selected: "a", Undone: []string{"b", "a"}})
		tokens := xml.NewDecoder(strings.NewReader(image))
		for {
			token, err := tokens.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v:\n%s", err, image)
			}
			element, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if !strings.Contains(elements, " "+element.Name.Local+" ") {
				t.Errorf("there is an element %s:\n%s", element.Name.Local, image)
			}
			for _, a := range element.Attr {
				if !strings.Contains(attributes, " "+a.Name.Local+" ") {
					t.Errorf("there is an attribute %s:\n%s", a.Name.Local, image)
				}
			}
		}
	})
}

func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		v := layered(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				draw.Place(v)
			}
		})
	}
}
