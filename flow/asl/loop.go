package asl

import "github.com/ebbflow/ebb/internal/digraph"

// loops marks the states of a level that can be visited more than once: those
// that some way of transitions leads back to. Only their visits are counted, so
// that what a long machine without loops remembers does not grow with it.
func (l *level) loops() {
	all := make([]*state, len(l.names))
	for i, name := range l.names {
		all[i] = l.here[name]
	}
	digraph.Loops(all, (*state).successors, func(loop []*state) {
		for _, s := range loop {
			s.repeats = true
		}
	})
}
