package draw

import (
	"cmp"
	"slices"
)

const (
	sweeps       = 6    // times that the layers are ordered
	moves        = 3    // times that they are moved
	bendsPerEdge = 2    // bends on average; with more, edges go straight
	manyItems    = 5000 // of which the layers are ordered half as often
)

// layers are the items of one group, and the bends of edges that pass layers.
type layers struct {
	items         []item
	width, height []float64 // of items and bends
	next, prev    [][]int32 // items and bends one layer below or above
	edges         []link
	links         []ends // of the edges, as indexes in items
	layer         []int
	order         [][]int32 // items and bends of the layers, from left to right
	x, y          []float64 // centers
	place         []float64 // in their layer, from 0
	key           []float64 // by which they are sorted
	chains        []chain
}

// A chain is the row of bends of an edge that passes layers. They follow each other among the items and bends.
type chain struct{ edge, first, past int }

// newLayers returns the layers of a number of items, between which there are edges.
func newLayers(items int, edges []link) *layers {
	return &layers{
		items: make([]item, 0, items), edges: edges, links: make([]ends, len(edges)),
		width: make([]float64, 0, 2*items), height: make([]float64, 0, 2*items),
	}
}

func (s *layers) add(it item, width, height float64) {
	s.items = append(s.items, it)
	s.width, s.height = append(s.width, width), append(s.height, height)
}

// link notes which items the edges connect.
func (s *layers) link(position func(item) int32) {
	for i := range s.edges {
		s.links[i] = ends{int(position(s.edges[i].from)), int(position(s.edges[i].to))}
	}
}

// arrange gives each item a place, and returns the size of all.
func (s *layers) arrange(margin, top float64) (width, height float64) {
	s.rank()
	s.bend()
	times := sweeps
	if len(s.layer) > manyItems {
		times /= 2
	}
	for range times {
		s.sort(s.prev, false)
		s.sort(s.next, true)
	}
	return s.coordinates(margin, top)
}

// rank puts each item in the first layer below all that lead to it. Edges that close a loop do not count.
func (s *layers) rank() {
	n := len(s.items)
	sizes := make([]int, n)
	for _, e := range s.links {
		sizes[e.from]++
	}
	out := lists(sizes, len(s.links))
	for _, e := range s.links {
		out[e.from] = append(out[e.from], int32(e.to))
	}
	order := finished(out)
	place := make([]int, n)
	for i, v := range order {
		place[v] = i
	}
	s.layer = make([]int, n)
	for _, v := range slices.Backward(order) { // topological, without the edges that lead back
		for _, to := range out[v] {
			if place[to] < place[v] {
				s.layer[to] = max(s.layer[to], s.layer[v]+1)
			}
		}
	}
}

// finished returns the nodes of a graph in the order in which a search in depth leaves them.
func finished(out [][]int32) []int32 {
	order := make([]int32, 0, len(out))
	entered := make([]bool, len(out))
	var stack, child []int32
	for start := range out {
		if entered[start] {
			continue
		}
		entered[start] = true
		stack, child = append(stack[:0], int32(start)), append(child[:0], 0)
		for len(stack) > 0 {
			top := len(stack) - 1
			v := stack[top]
			if int(child[top]) == len(out[v]) {
				order = append(order, v)
				stack, child = stack[:top], child[:top]
				continue
			}
			to := out[v][child[top]]
			child[top]++
			if !entered[to] {
				entered[to] = true
				stack, child = append(stack, to), append(child, 0)
			}
		}
	}
	return order
}

// bend splits edges that pass layers into edges between neighboring layers.
func (s *layers) bend() {
	long := 0
	for _, e := range s.links {
		long += max(0, s.layer[e.to]-s.layer[e.from]-1)
	}
	straight := long > bendsPerEdge*(len(s.links)+len(s.items))
	s.next, s.prev = s.degrees()
	if straight {
		long = 0
	}
	s.layer, s.width, s.height = slices.Grow(s.layer, long), slices.Grow(s.width, long), slices.Grow(s.height, long)
	s.next, s.prev = slices.Grow(s.next, long), slices.Grow(s.prev, long)
	sides := make([]int32, 2*long) // the neighbors of the bends
	for i, e := range s.links {
		from, to := e.from, e.to
		if s.layer[from] > s.layer[to] {
			from, to = to, from
			s.join(int32(from), int32(to))
			continue
		}
		last, first := int32(from), len(s.layer)
		for l := s.layer[from] + 1; l < s.layer[to] && !straight; l++ {
			bend := int32(len(s.layer))
			s.layer = append(s.layer, l)
			s.width, s.height = append(s.width, 2), append(s.height, 0)
			s.next, s.prev = append(s.next, sides[:0:1]), append(s.prev, sides[1:1:2])
			sides = sides[2:]
			s.join(last, bend)
			last = bend
		}
		if past := len(s.layer); past > first {
			s.chains = append(s.chains, chain{s.edges[i].edge, first, past})
		}
		s.join(last, int32(to))
	}
	s.fill()
}

// degrees returns empty lists with space for the neighbors of each item, made at once.
func (s *layers) degrees() (next, prev [][]int32) {
	out, in := make([]int, len(s.items)), make([]int, len(s.items))
	for _, e := range s.links {
		from, to := e.from, e.to
		if s.layer[from] > s.layer[to] {
			from, to = to, from
		}
		out[from]++
		in[to]++
	}
	return lists(out, len(s.links)), lists(in, len(s.links))
}

// lists returns empty lists with space for so many values each, made at once.
func lists(sizes []int, sum int) [][]int32 {
	all, space := make([][]int32, len(sizes)), make([]int32, sum)
	for i, n := range sizes {
		all[i], space = space[:0:n], space[n:]
	}
	return all
}

func (s *layers) join(from, to int32) {
	s.next[from], s.prev[to] = append(s.next[from], to), append(s.prev[to], from)
}

// fill puts items and bends into their layers, in their order.
func (s *layers) fill() {
	most := -1
	for _, l := range s.layer {
		most = max(most, l)
	}
	sizes := make([]int, most+1)
	for _, l := range s.layer {
		sizes[l]++
	}
	s.order = lists(sizes, len(s.layer))
	for v, l := range s.layer {
		s.order[l] = append(s.order[l], int32(v))
	}
	s.place, s.key = make([]float64, len(s.layer)), make([]float64, len(s.layer))
	s.number()
}

func (s *layers) number() {
	for _, layer := range s.order {
		s.numberOne(layer)
	}
}

func (s *layers) numberOne(layer []int32) {
	for i, v := range layer {
		s.place[v] = float64(i)
	}
}

// sort orders each layer by the middle of the neighbors of its items.
func (s *layers) sort(neighbors [][]int32, up bool) {
	key := s.key
	for i := range s.order {
		layer := s.order[i]
		if up {
			layer = s.order[len(s.order)-1-i]
		}
		for _, v := range layer {
			key[v] = s.place[v]
			if n := len(neighbors[v]); n > 0 {
				sum := 0.0
				for _, w := range neighbors[v] {
					sum += s.place[w]
				}
				key[v] = sum / float64(n)
			}
		}
		slices.SortFunc(layer, func(a, b int32) int {
			switch {
			case key[a] < key[b]:
				return -1
			case key[a] > key[b]:
				return 1
			default:
				return cmp.Compare(s.place[a], s.place[b])
			}
		})
		s.numberOne(layer)
	}
}

// coordinates computes the centers: the items of a layer keep their order, and are as near to the middle of their
// neighbors as the gaps allow.
func (s *layers) coordinates(margin, top float64) (width, height float64) {
	s.x, s.y = make([]float64, len(s.layer)), make([]float64, len(s.layer))
	y := top
	for i, layer := range s.order {
		tallest, x := 0.0, 0.0
		for _, v := range layer {
			tallest = max(tallest, s.height[v])
			s.x[v] = x + s.width[v]/2
			x += s.width[v] + nodeGap
		}
		if i > 0 {
			y += layerGap
		}
		for _, v := range layer {
			s.x[v] -= x / 2
			s.y[v] = y + tallest/2
		}
		y += tallest
	}
	for range moves {
		s.move(s.prev, false)
		s.move(s.next, true)
	}
	left, right := 0.0, 0.0
	for v := range s.layer {
		if v == 0 || s.x[v]-s.width[v]/2 < left {
			left = s.x[v] - s.width[v]/2
		}
		right = max(right, s.x[v]+s.width[v]/2)
	}
	for v := range s.x {
		s.x[v] += margin - left
	}
	return right - left + 2*margin, y + margin
}

// bends returns where the bends of an edge are.
func (s *layers) bends(c chain) []Point {
	points := make([]Point, 0, c.past-c.first)
	for v := c.first; v < c.past; v++ {
		points = append(points, Point{s.x[v], s.y[v]})
	}
	return points
}

// A block is a row of neighbors that touch: items from..to of a layer.
type block struct {
	sum, weight float64
	from        int
}

// move moves the items of each layer to the middle of their neighbors. Those that would overlap become a block, which
// moves to the middle of what its items want (isotonic regression).
func (s *layers) move(neighbors [][]int32, up bool) {
	var blocks []block
	for i := range s.order {
		layer := s.order[i]
		if up {
			layer = s.order[len(s.order)-1-i]
		}
		blocks = s.blocks(layer, neighbors, blocks[:0])
		offset := 0.0
		for n, b := 0, -1; n < len(layer); n++ {
			if b+1 < len(blocks) && blocks[b+1].from == n {
				b++
			}
			if n > 0 {
				offset += (s.width[layer[n-1]]+s.width[layer[n]])/2 + nodeGap
			}
			s.x[layer[n]] = blocks[b].sum/blocks[b].weight + offset
		}
	}
}

// blocks returns the blocks of a layer.
func (s *layers) blocks(layer []int32, neighbors [][]int32, blocks []block) []block {
	offset := 0.0
	for at, v := range layer {
		if at > 0 {
			offset += (s.width[layer[at-1]]+s.width[v])/2 + nodeGap
		}
		want, weight := s.x[v], 0.1
		if n := len(neighbors[v]); n > 0 {
			want, weight = 0, 1
			for _, w := range neighbors[v] {
				want += s.x[w] / float64(n)
			}
		}
		blocks = append(blocks, block{(want - offset) * weight, weight, at})
		for n := len(blocks); n > 1; n = len(blocks) {
			a, b := &blocks[n-2], &blocks[n-1]
			if a.sum/a.weight <= b.sum/b.weight {
				break
			}
			a.sum, a.weight = a.sum+b.sum, a.weight+b.weight
			blocks = blocks[:n-1]
		}
	}
	return blocks
}
