package asl

// loops marks the states of a level that can be visited more than once: those
// that some way of transitions leads back to. Only their visits are counted, so
// that what a long machine without loops remembers does not grow with it
// (Tarjan's strongly connected components).
func (l *level) loops() {
	search := &loopSearch{number: make(map[*state]int), low: make(map[*state]int), open: make(map[*state]bool)}
	for _, name := range l.names {
		if s := l.here[name]; search.number[s] == 0 {
			search.visit(s)
		}
	}
}

type loopSearch struct {
	number map[*state]int // in the order of visits, from 1
	low    map[*state]int // the lowest number that a state leads back to
	open   map[*state]bool
	stack  []*state
}

func (f *loopSearch) visit(s *state) {
	f.number[s] = len(f.number) + 1
	f.low[s] = f.number[s]
	f.stack, f.open[s] = append(f.stack, s), true
	for _, next := range s.successors() {
		switch {
		case next == nil:
		case f.number[next] == 0:
			f.visit(next)
			f.low[s] = min(f.low[s], f.low[next])
		case f.open[next]:
			f.low[s] = min(f.low[s], f.number[next])
			s.repeats = s.repeats || next == s
		}
	}
	if f.low[s] < f.number[s] {
		return
	}
	for first := true; ; first = false {
		last := f.stack[len(f.stack)-1]
		f.stack, f.open[last] = f.stack[:len(f.stack)-1], false
		if last == s {
			s.repeats = s.repeats || !first
			return
		}
		last.repeats = true
	}
}
