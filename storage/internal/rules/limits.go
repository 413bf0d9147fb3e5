package rules

import (
	"cmp"
	"math"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

// A Bucket is what limits see of a run: limits count runs of equal buckets together.
type Bucket struct {
	Flow   string
	Labels map[string]string
}

// LimiterState is how many runs are driven, as limits count them. The zero LimiterState has no limits.
type LimiterState struct {
	limits []storage.Limit
	taken  map[place]int
}

// place is what a limit counts together.
type place struct {
	limit int
	value string
}

// NewLimiterState returns what these limits count when nothing is driven.
func NewLimiterState(limits []storage.Limit) *LimiterState {
	t := &LimiterState{limits: limits, taken: map[place]int{}}
	if rate := func(l storage.Limit) bool { return l.Runs == 0 }; slices.ContainsFunc(limits, rate) {
		t.limits = slices.DeleteFunc(slices.Clone(limits), rate)
	}
	return t
}

// Bucket returns what the limits see of a run; false when no limit counts the run.
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

// each calls f with the limits that count a bucket.
func (t *LimiterState) each(bucket *Bucket, f func(place)) {
	for i := range t.limits {
		l := &t.limits[i]
		value, has := bucket.Labels[l.Label]
		if (l.Flow == "" || l.Flow == bucket.Flow) && (l.Label == "" || has) {
			f(place{i, value})
		}
	}
}

// Take counts runs of a bucket that are driven.
func (t *LimiterState) Take(bucket *Bucket, runs int) {
	t.each(bucket, func(p place) { t.taken[p] += runs })
}

// Available returns how many more runs of a bucket may be driven.
func (t *LimiterState) Available(bucket *Bucket) int {
	available := math.MaxInt
	t.each(bucket, func(p place) { available = min(available, t.limits[p.limit].Runs-t.taken[p]) })
	return max(available, 0)
}

// Full returns the first limit that allows no further run of a bucket; nil when
// there is none.
func (t *LimiterState) Full(run string, bucket *Bucket) *storage.LimitedError {
	var full *storage.LimitedError
	t.each(bucket, func(p place) {
		if l := t.limits[p.limit]; full == nil && t.taken[p] >= l.Runs {
			full = &storage.LimitedError{Run: run, Limit: l, Value: p.value}
		}
	})
	return full
}

// WithLimit returns the limits after one was set, ordered by flow and label.
func WithLimit(limits []storage.Limit, set storage.Limit) []storage.Limit {
	out := slices.DeleteFunc(slices.Clone(limits), func(l storage.Limit) bool { return l.Flow == set.Flow && l.Label == set.Label })
	if !set.None() {
		out = append(out, set)
	}
	slices.SortFunc(out, func(a, b storage.Limit) int {
		return cmp.Or(cmp.Compare(a.Flow, b.Flow), cmp.Compare(a.Label, b.Label))
	})
	return out
}
