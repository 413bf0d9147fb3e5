package memorybudget

import "time"

// leftBelow is in tenths of the budget. After live memory has reached the budget, it must fall below this part. So a
// process near the budget does not switch back and forth.
const leftBelow = 9

// collectEvery is the time between two collections while the budget is reached. An idle process does not collect, and
// would not see that its memory is free again.
const collectEvery = 10 * time.Second

// A Watch judges whether live memory has reached a budget. The zero Watch has no budget.
type Watch struct {
	Budget int64

	exhausted   bool
	collections uint64
	collected   time.Time // when collections last changed
}

// Look judges the use at a time. It reports whether the budget is reached, and whether that has changed.
func (w *Watch) Look(now time.Time, use Use) (exhausted, changed bool) {
	if w.Budget <= 0 {
		return false, false
	}
	was := w.exhausted
	w.exhausted = use.Live >= w.Budget || was && use.Live >= w.Budget/10*leftBelow
	if use.Collections != w.collections || !was {
		w.collections, w.collected = use.Collections, now
	}
	return w.exhausted, w.exhausted != was
}

// Stale reports whether to collect garbage: the budget is reached, and nothing was collected for collectEvery. It then
// returns false for as long again.
func (w *Watch) Stale(now time.Time) bool {
	if !w.exhausted || now.Sub(w.collected) < collectEvery {
		return false
	}
	w.collected = now
	return true
}
