package asl

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// A leftVisit is the visit that was open when a level ended without success.
type leftVisit struct {
	visit  grow.Visit
	visits map[string]int // of each state of the level
}

// leave remembers the open visit of a level that ends without success, as long as the state around it is visited.
func (t *tracer) leave(l *tracedLevel, stage grow.VisitStage) {
	if !l.inline && (stage == grow.VisitFailed || stage == grow.VisitAborted) {
		t.left[l.path] = leftVisit{*l.open, l.visits}
	}
}

// forgetLeft forgets what was left inside the open visit of a level, because the visit continues without it.
func (t *tracer) forgetLeft(l *tracedLevel) {
	maps.DeleteFunc(t.left, func(path string, _ leftVisit) bool { return nodepath.Inside(path, l.open.Path) })
}

// redriven opens the visits again that were left when the execution ended.
func (t *tracer) redriven() {
	paths := slices.SortedFunc(maps.Keys(t.left), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, path := range paths {
		l, left := t.flow(path), t.left[path]
		left.visit.Stage, left.visit.Failure, left.visit.Caught = grow.VisitEntered, nil, false
		l.open, l.visits, l.broke = &left.visit, left.visits, nil
		if l.outside != nil && l.outside.open != nil {
			l.outside.keep(l)
		}
		t.out = append(t.out, left.visit)
	}
	clear(t.left)
}
