// Package digraph finds loops in directed graphs.
package digraph

// Loops calls loop for each set of nodes that all lead to each other, and for each node that leads to itself (Tarjan's
// strongly connected components).
func Loops[T comparable](nodes []T, successors func(T) []T, loop func([]T)) {
	f := &search[T]{
		successors: successors, loop: loop,
		number: make(map[T]int, len(nodes)), low: make(map[T]int, len(nodes)), open: make(map[T]bool, len(nodes)),
	}
	for _, n := range nodes {
		if f.number[n] == 0 {
			f.visit(n)
		}
	}
}

type search[T comparable] struct {
	successors func(T) []T
	loop       func([]T)

	number map[T]int // in the order of visits, from 1
	low    map[T]int // the lowest number to which a node leads back
	open   map[T]bool
	stack  []T
}

func (f *search[T]) visit(n T) {
	f.number[n] = len(f.number) + 1
	f.low[n] = f.number[n]
	f.stack, f.open[n] = append(f.stack, n), true
	start := len(f.stack) - 1
	itself := false
	for _, next := range f.successors(n) {
		switch {
		case f.number[next] == 0:
			f.visit(next)
			f.low[n] = min(f.low[n], f.low[next])
		case f.open[next]:
			f.low[n] = min(f.low[n], f.number[next])
			itself = itself || next == n
		}
	}
	if f.low[n] < f.number[n] {
		return
	}
	component := f.stack[start:]
	f.stack = f.stack[:start]
	for _, member := range component {
		f.open[member] = false
	}
	if itself || len(component) > 1 {
		f.loop(component)
	}
}
