package rules

import (
	"cmp"
	"math"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

// A Bucket identifies runs that limits count together: limits treat runs of equal buckets alike.
type Bucket struct {
	Flow   string
	Labels map[string]string
}

// LimiterState contains the number of driven runs, as limits count them. The zero LimiterState has no limits.
type LimiterState struct {
	limits []storage.Limit
	taken  map[place]int
}

// place identifies the runs that one limit counts together.
type place struct {
	limit int
	value string
}

// NewLimiterState returns the state of these limits when no run is driven.
func NewLimiterState(limits []storage.Limit) *LimiterState {
	t := &LimiterState{limits: limits, taken: map[place]int{}}
	if rate := func(l storage.Limit) bool { return l.Runs == 0 }; slices.ContainsFunc(limits, rate) {
		t.limits = slices.DeleteFunc(slices.Clone(limits), rate)
	}
	return t
}

// Bucket returns the run's bucket; false if no limit counts the run.
func (t *LimiterState) Bucket(flow string, labels map[string]string) (Bucket, bool) {
	bucket, counted := Bucket{Flow: flow}, false
	for i := range t.limits {
		l := &t.limits[i]
		value, has := labels[l.Label]
		switch {
		case l.Flow != "" && l.Flow != flow, l.Label != "" && !has:
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
	for i := range t.limits {
		l := &t.limits[i]
		value, has := bucket.Labels[l.Label]
		if (l.Flow == "" || l.Flow == bucket.Flow) && (l.Label == "" || has) {
			f(place{i, value})
		}
	}
}

// Take adds driven runs of a bucket to the counts.
func (t *LimiterState) Take(bucket *Bucket, runs int) {
	t.each(bucket, func(p place) { t.taken[p] += runs })
}

// Most returns the largest number of driven runs that a limit counts together.
func (t *LimiterState) Most(limit storage.Limit) int {
	most := 0
	for p, n := range t.taken {
		if t.limits[p.limit] == limit {
			most = max(most, n)
		}
	}
	return most
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
			full = &storage.LimitedError{Run: run, Limit: l, Value: p.value}
		}
	})
	return full
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
