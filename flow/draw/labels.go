package draw

import (
	"strconv"
	"unicode/utf8"
)

// Sizes of the label of an edge in pixels, for a font of 11 pixels.
const (
	labelChar   = 6.2
	labelHeight = 13
	labelGap    = 5  // between a line and a label beside it
	labelCell   = 64 // side of the squares in which labels look for others
)

// A labels places the labels of edges beside each other and beside the nodes, where their edges leave them a choice.
type labels struct {
	placed map[[2]int][]Box // nodes and labels, by the squares that they touch
	right  float64          // right side of the rightmost one
}

// along are the parts of a line at which its label may stand, the best one first.
var along = []float64{0.5, 0.36, 0.64, 0.22, 0.78}

// place returns the center of the label of an edge: the first free place on its line, else the first beside it, or the
// best one if none is free.
func (l *labels) place(e *PlacedEdge, text string) Point {
	box := Box{Width: float64(utf8.RuneCountInString(text)) * labelChar, Height: labelHeight}
	middle := len(e.Points)/2 - 1
	for _, side := range []float64{0, 1, -1} {
		for _, piece := range []int{middle, middle + 1, middle - 1} {
			if piece < 0 || piece+1 >= len(e.Points) {
				continue
			}
			for _, part := range along {
				at := e.at(piece, part)
				at.X += side * (box.Width/2 + labelGap)
				if box.move(at); l.isFree(&box) {
					return l.add(box)
				}
			}
		}
	}
	box.move(e.at(middle, along[0]))
	return l.add(box)
}

// move puts a label to a place, but not across the left side of the image.
func (b *Box) move(to Point) { b.X, b.Y = max(to.X, b.Width/2+2), to.Y }

// at returns a point of one of the pieces of an edge, a part of the way along it.
func (e *PlacedEdge) at(piece int, t float64) Point {
	a, b := e.Points[piece], e.Points[piece+1]
	if e.Back { // straight, as [svg.edge] draws it
		return Point{a.X + (b.X-a.X)*t, a.Y + (b.Y-a.Y)*t}
	}
	s := 1 - t
	near, far := s*s*s+3*s*s*t, 3*s*t*t+t*t*t
	turn := 3*s*s*t + 3*s*t*t
	return Point{near*a.X + far*b.X, s*s*s*a.Y + turn*(a.Y+b.Y)/2 + t*t*t*b.Y}
}

// numberBox returns the place of the number of a node that was undone.
func numberBox(n *PlacedNode, number int) Box {
	width := float64(1+len(strconv.Itoa(number))) * labelChar
	return Box{X: n.X + n.Width/2 + 4 + width/2, Y: n.Y - n.Height/2, Width: width, Height: labelHeight}
}

// cells yields the squares that a box touches.
func (b *Box) cells(yield func([2]int) bool) {
	for x := int(b.X-b.Width/2) / labelCell; x <= int(b.X+b.Width/2)/labelCell; x++ {
		for y := int(b.Y-b.Height/2) / labelCell; y <= int(b.Y+b.Height/2)/labelCell; y++ {
			if !yield([2]int{x, y}) {
				return
			}
		}
	}
}

func (l *labels) isFree(b *Box) bool {
	for cell := range b.cells {
		for i := range l.placed[cell] {
			if o := &l.placed[cell][i]; max(o.X-b.X, b.X-o.X) < (o.Width+b.Width)/2 &&
				max(o.Y-b.Y, b.Y-o.Y) < (o.Height+b.Height)/2 {
				return false
			}
		}
	}
	return true
}

func (l *labels) add(b Box) Point {
	for cell := range b.cells {
		l.placed[cell] = append(l.placed[cell], b)
	}
	l.right = max(l.right, b.X+b.Width/2)
	return Point{b.X, b.Y}
}
