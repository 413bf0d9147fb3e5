package driver

import (
	"container/heap"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A timerKey identifies a timer: of a grown node, of an atom of the plan, or, if it names neither, the run's
// deadline.
type timerKey struct {
	node  *scheduler.Node
	atom  int32 // -1 if it is not an atom of the plan
	token bool  // the timer is a limit of the atom's token
}

var deadline = timerKey{atom: -1}

func keyOf(cmd *scheduler.Command) timerKey { return timerKey{node: cmd.Node, atom: cmd.Atom} }

func (k timerKey) path(r *run) string {
	switch {
	case k.node != nil:
		return k.node.Path
	case k.atom >= 0:
		return r.plan.Atoms[k.atom].Name()
	default:
		return ""
	}
}

func (k timerKey) kind() storage.TimerKind {
	switch {
	case k.token:
		return storage.TimerToken
	case k.node != nil && k.node.Spec.Kind == flow.Timer:
		return storage.TimerWait
	case k != deadline:
		return storage.TimerRetry
	default:
		return storage.TimerDeadline
	}
}

// setTimer sets the timer of a wait.
func (t *timers) setTimer(cmd *scheduler.Command) {
	k, due := keyOf(cmd), cmd.Due
	if limits := k.node != nil && k.node.Spec.Limits; t.env.SkipWaits && !limits && due.After(t.next.Now) {
		due = t.next.Now
	}
	t.set(k, due)
	t.next.Timer(k.path(t.run), k.kind(), due)
}

func (t *timers) dropTimer(cmd *scheduler.Command) {
	k := keyOf(cmd)
	t.drop(k)
	t.next.Timer(k.path(t.run), k.kind(), time.Time{})
}

// dropTimers drops the timers of a run that has ended.
func (t *timers) dropTimers() {
	for k := range t.at {
		t.next.Timer(k.path(t.run), k.kind(), time.Time{})
	}
	for _, row := range t.found { // due before the run was loaded
		t.next.Timer(row.Path, row.Kind, time.Time{})
	}
	*t = timers{run: t.run}
}

// timers are the waits of one run, nearest first. Dropped timers stay in the heap until they reach its top.
type timers struct {
	*run

	found []storage.TimerRow // the rows that the run was loaded with
	at    map[timerKey]time.Time
	heap  timerHeap
}

type timer struct {
	key timerKey
	at  time.Time
	n   int // order of setting, among timers with the same time
}

func (t *timers) set(k timerKey, at time.Time) {
	if t.at == nil {
		t.at = map[timerKey]time.Time{}
	}
	t.at[k] = at
	t.heap.n++
	heap.Push(&t.heap, timer{k, at, t.heap.n})
}

func (t *timers) drop(k timerKey) { delete(t.at, k) }

func (t *timers) has(k timerKey) bool { _, ok := t.at[k]; return ok }

// nearest returns when the nearest timer is due; false if there is none.
func (t *timers) nearest() (time.Time, bool) {
	for len(t.heap.list) > 0 {
		top := t.heap.list[0]
		if at, ok := t.at[top.key]; ok && at.Equal(top.at) {
			return at, true
		}
		heap.Pop(&t.heap)
	}
	return time.Time{}, false
}

// pass reports whether a timer is due by now.
func (t *timers) pass(now time.Time) bool {
	if len(t.heap.list) == 0 {
		return false
	}
	at, ok := t.nearest()
	return ok && !at.After(now)
}

// maxFired bounds the timers that fire before the next commit, so that a commit stays small when very many are due.
const maxFired = 500

// due removes and returns the nearest timers that are due by now, at most maxFired.
func (t *timers) due(now time.Time) []timerKey {
	var keys []timerKey
	for len(keys) < maxFired {
		at, ok := t.nearest()
		if !ok || at.After(now) {
			break
		}
		top := t.heap.list[0]
		heap.Pop(&t.heap)
		delete(t.at, top.key)
		keys = append(keys, top.key)
	}
	return keys
}

type timerHeap struct {
	list []timer
	n    int
}

func (h *timerHeap) Len() int { return len(h.list) }
func (h *timerHeap) Less(i, j int) bool {
	if a, b := h.list[i].at, h.list[j].at; !a.Equal(b) {
		return a.Before(b)
	}
	return h.list[i].n < h.list[j].n
}
func (h *timerHeap) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *timerHeap) Push(x any) {
	if t, ok := x.(timer); ok {
		h.list = append(h.list, t)
	}
}

func (h *timerHeap) Pop() any {
	last := h.list[len(h.list)-1]
	h.list[len(h.list)-1] = timer{}
	h.list = h.list[:len(h.list)-1]
	return last
}
