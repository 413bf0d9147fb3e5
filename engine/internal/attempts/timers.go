package attempts

import (
	"container/heap"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// A Key identifies a timer: of a unit, or, if the unit is nil, the run's deadline.
type Key struct {
	*scheduler.Unit

	Token bool // the timer is a limit of the token of the unit's attempt
}

// Deadline is the key of the run's deadline.
var Deadline = Key{}

// Timers are the waits of one run, nearest first. Dropped timers stay in the heap until they reach its top.
type Timers struct {
	at   map[Key]time.Time
	heap timerHeap
}

type timer struct {
	key Key
	at  time.Time
	n   int // order of setting, among timers with the same time
}

// Set sets when a timer is due.
func (t *Timers) Set(k Key, at time.Time) {
	if t.at == nil {
		t.at = map[Key]time.Time{}
	}
	t.at[k] = at
	t.heap.n++
	heap.Push(&t.heap, timer{k, at, t.heap.n})
}

// Drop removes a timer.
func (t *Timers) Drop(k Key) { delete(t.at, k) }

// Due returns when a timer is due; false if it is not set.
func (t *Timers) Due(k Key) (time.Time, bool) {
	at, ok := t.at[k]
	return at, ok
}

// MayPass reports whether a timer may be set.
func (t *Timers) MayPass() bool { return len(t.heap.list) > 0 }

// Nearest returns when the nearest timer is due; false if there is none.
func (t *Timers) Nearest() (time.Time, bool) {
	for len(t.heap.list) > 0 {
		top := t.heap.list[0]
		if at, ok := t.at[top.key]; ok && at.Equal(top.at) {
			return at, true
		}
		heap.Pop(&t.heap)
	}
	return time.Time{}, false
}

// HasPassed reports whether a timer is due by now.
func (t *Timers) HasPassed(now time.Time) bool {
	if len(t.heap.list) == 0 {
		return false
	}
	at, ok := t.Nearest()
	return ok && !at.After(now)
}

// maxFired bounds the timers that fire before the next commit, so that a commit stays small when very many are due.
const maxFired = 500

// Take removes and returns the nearest timers that are due by now, at most maxFired.
func (t *Timers) Take(now time.Time) []Key {
	var keys []Key
	for len(keys) < maxFired {
		at, ok := t.Nearest()
		if !ok || at.After(now) {
			break
		}
		k := t.heap.list[0].key
		t.Drop(k)
		keys = append(keys, k)
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
