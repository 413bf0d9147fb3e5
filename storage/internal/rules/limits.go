package rules

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Bucket identifies runs that limits count together: limits treat runs of equal buckets alike.
type Bucket struct {
	Flow   string
	Labels map[string]string
}

// An index finds the limits that may count the runs of a flow without looking at those of other flows.
type index struct {
	limits []storage.Limit
	of     map[string][]int // by flow; those of "" count every flow
}

func newIndex(limits []storage.Limit) index {
	x := index{limits, map[string][]int{}}
	for i := range limits {
		x.of[limits[i].Flow] = append(x.of[limits[i].Flow], i)
	}
	return x
}

// each yields the limits of every flow, and then those of a flow, with their numbers.
func (x *index) each(flow string) iter.Seq2[int, *storage.Limit] {
	return func(yield func(int, *storage.Limit) bool) {
		for _, i := range x.of[""] {
			if !yield(i, &x.limits[i]) {
				return
			}
		}
		if flow == "" {
			return
		}
		for _, i := range x.of[flow] {
			if !yield(i, &x.limits[i]) {
				return
			}
		}
	}
}

// LimiterState contains the number of driven runs, as limits count them. The zero LimiterState has no limits.
type LimiterState struct {
	index

	taken map[place]int
}

// place identifies the runs that one limit counts together.
type place struct {
	limit int
	value string
}

// NewLimiterState returns the state of these limits when no run is driven.
func NewLimiterState(limits []storage.Limit) *LimiterState {
	if rate := func(l storage.Limit) bool { return l.Runs == 0 }; slices.ContainsFunc(limits, rate) {
		limits = slices.DeleteFunc(slices.Clone(limits), rate)
	}
	return &LimiterState{newIndex(limits), map[place]int{}}
}

// Bucket returns the run's bucket; false if no limit counts the run.
func (t *LimiterState) Bucket(flow string, labels map[string]string) (Bucket, bool) {
	bucket, counted := Bucket{Flow: flow}, false
	for _, l := range t.index.each(flow) {
		value, has := labels[l.Label]
		switch {
		case l.Label != "" && !has:
			continue
		case l.Label != "":
			if bucket.Labels == nil {
				bucket.Labels = map[string]string{}
			}
			bucket.Labels[l.Label] = value
		}
		counted = true
	}
	return bucket, counted
}

// each calls f for each limit that counts the bucket.
func (t *LimiterState) each(bucket *Bucket, f func(place)) {
	for i, l := range t.index.each(bucket.Flow) {
		if value, has := bucket.Labels[l.Label]; l.Label == "" || has {
			f(place{i, value})
		}
	}
}

// Take adds driven runs of a bucket to the counts.
func (t *LimiterState) Take(bucket *Bucket, runs int) {
	t.each(bucket, func(p place) { t.taken[p] += runs })
}

// Most returns the limits on driven runs, and the largest number of them that each counts together.
func (t *LimiterState) Most() (limits []storage.Limit, most []int) {
	most = make([]int, len(t.limits))
	for p, n := range t.taken {
		most[p.limit] = max(most[p.limit], n)
	}
	return t.limits, most
}

// Available returns how many more runs of a bucket the limits allow to be driven.
func (t *LimiterState) Available(bucket *Bucket) int {
	available := math.MaxInt
	t.each(bucket, func(p place) { available = min(available, t.limits[p.limit].Runs-t.taken[p]) })
	return max(available, 0)
}

// Full returns the first limit that does not allow another run of a bucket; nil if every limit allows it.
func (t *LimiterState) Full(run string, bucket *Bucket) *storage.LimitedError {
	var full *storage.LimitedError
	t.each(bucket, func(p place) {
		if l := t.limits[p.limit]; full == nil && t.taken[p] >= l.Runs {
			full = &storage.LimitedError{Run: run, Limit: l, Value: p.value, Used: t.taken[p]}
		}
	})
	return full
}

// CheckLimits returns ErrInvalid if a store cannot have that many limits.
func CheckLimits(n int) error {
	if n > backend.MaxLimitCount {
		return fmt.Errorf("%w: there are %d limits already: limit by a label, whose values count separately",
			storage.ErrInvalid, backend.MaxLimitCount)
	}
	return nil
}

// WithLimit returns the limits after set is applied, ordered by flow and label.
func WithLimit(limits []storage.Limit, set storage.Limit) []storage.Limit {
	out := slices.DeleteFunc(slices.Clone(limits), func(l storage.Limit) bool {
		return l.Flow == set.Flow &&
			l.Label == set.Label
	})
	if !set.None() {
		out = append(out, set)
	}
	slices.SortFunc(out, func(a, b storage.Limit) int {
		return cmp.Or(cmp.Compare(a.Flow, b.Flow), cmp.Compare(a.Label, b.Label))
	})
	return out
}
