package storagetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

func labeled(id, flow string, labels map[string]string) storage.Run {
	r := dueRun(id, at(1))
	r.Flow, r.Labels = flow, labels
	return r
}

func setLimits(t tester, s backend.Store, limits ...storage.Limit) {
	t.Helper()
	for _, l := range limits {
		must(t, "SetLimit", s.SetLimit(t.Context(), l))
	}
}

// testLimits: runs may be driven up to the limits, and more once earlier runs are released or their owner is dead.
func testLimits(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	of := func(customer string) map[string]string {
		return map[string]string{"customer": customer, "color": "red"}
	}
	create(t, s, labeled("before", "trip", of("x")))
	setLimits(t, s, storage.Limit{Flow: "trip", Runs: 9}, storage.Limit{Label: "customer", Runs: 1},
		storage.Limit{Flow: "trip", Runs: 2})
	limits, err := other.Limits(t.Context())
	must(t, "Limits", err)
	if diff := cmp.Diff([]storage.Limit{{Label: "customer", Runs: 1}, {Flow: "trip", Runs: 2}}, limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	create(t, s, labeled("a", "trip", of("x")))
	create(t, s, labeled("b", "trip", nil), labeled("c", "trip", nil), labeled("d", "tour", of("x")),
		labeled("e", "tour", nil))

	wants := func(by backend.Store, id string, limit *storage.Limit) {
		t.Helper()
		_, _, err := by.Begin(t.Context(), id)
		limited, is := errors.AsType[*storage.LimitedError](err)
		switch {
		case limit == nil && err != nil, limit != nil && !is:
			t.Errorf("Begin of %s: %v", id, err)
		case limit != nil && (limited.Limit != *limit || limited.Run != id || !errors.Is(err, storage.ErrLimited)):
			t.Errorf("%s waits for %+v; want %+v", id, limited, limit)
		}
		if limit == nil {
			return
		}
		waits, err := s.Limited(t.Context(), id)
		must(t, "Limited", err)
		if diff := cmp.Diff(limited, waits); diff != "" {
			t.Errorf("Limited says (-want +got):\n%s", diff)
		}
	}
	first := begin(t, s, "before") // created before there were limits
	wants(other, "a", &storage.Limit{Label: "customer", Runs: 1})
	wants(other, "d", &storage.Limit{Label: "customer", Runs: 1})
	wants(other, "b", nil)
	wants(s, "c", &storage.Limit{Flow: "trip", Runs: 2})
	wants(s, "e", nil)
	if got, _, _ := dueOf(t, s, backend.DueQuery{By: at(9)}); got != "" {
		t.Errorf("%s are due, and have no place", got)
	}
	if limited, err := s.Limited(t.Context(), "before"); limited != nil || err != nil {
		t.Errorf("one that is driven waits for %v: %v", limited, err)
	}
	must(t, "Release", s.Release(t.Context(), first.claim, 0, at(5)))
	if got, _, _ := dueOf(t, s, backend.DueQuery{By: at(9)}); got != "a" {
		t.Errorf("%q is due; want one customer's, and one trip", got)
	}
	if got, _, _ := dueOf(t, s, backend.DueQuery{By: at(9), Except: []string{"a"}}); got != "" {
		t.Errorf("%q is due, while another is about to be driven", got)
	}
	if _, _, err := s.Seize(t.Context(), "c"); err != nil {
		t.Errorf("Seize waits for no limit: %v", err)
	}
	wants(s, "a", &storage.Limit{Flow: "trip", Runs: 2})
	must(t, "Close", other.Close()) // it had the label b
	wants(s, "a", nil)
	if _, _, err := s.Begin(t.Context(), "none"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Begin of no run: %v", err)
	}
	setLimits(t, s, storage.Limit{Flow: "trip"}, storage.Limit{Label: "customer"})
	for _, id := range []string{"before", "b", "d"} {
		wants(s, id, nil)
	}
	for i := len(ask[[]storage.Limit](t, "Limits")(s.Limits(t.Context()))); i < backend.MaxLimitCount; i++ {
		must(t, "SetLimit", s.SetLimit(t.Context(), storage.Limit{Flow: fmt.Sprint("f", i), Rate: 1, Per: time.Second}))
	}
	more := storage.Limit{Flow: "more", Rate: 1, Per: time.Second}
	want(t, "SetLimit, one too many", s.SetLimit(t.Context(), more), storage.ErrInvalid)
	must(t, "SetLimit that exists", s.SetLimit(t.Context(), storage.Limit{Flow: "f999", Rate: 2, Per: time.Second}))
	if err := s.SetLimit(t.Context(), storage.Limit{Runs: -1}); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("a limit of -1: %v", err)
	}
}

// testLimitsOfClaims: claims may start while there are free places, no matter which process first learned of a free
// place.
func testLimitsOfClaims(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	setLimits(t, s, storage.Limit{Flow: "trip", Runs: 1})
	create(t, s, dueRun("a", at(1)), dueRun("b", at(2)), dueRun("later", at(50)))
	take := func(by backend.Store, want string) *pen {
		t.Helper()
		got, due, next := dueOf(t, by, backend.DueQuery{By: at(9)})
		if got != want || want == "" && !next.Equal(at(50)) && !next.IsZero() {
			t.Fatalf("%q is due, next at %v; want %q", got, next, want)
		}
		if want == "" {
			return nil
		}
		return &pen{store: by, claim: due[0].Claim, snap: due[0].Snapshot, head: headOf(&due[0].Snapshot.Run)}
	}
	running := backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}}
	waiting := backend.Checkpoint{Head: backend.Head{State: states.FlowRunning, Release: true, Due: at(7)}}
	p := take(s, "a")
	q := &pen{store: other, claim: p.claim, snap: p.snap, head: p.head}
	c := begin(t, other, "b")
	if err := p.commit(t.Context(), p.next(running)); !errors.Is(err, storage.ErrLimited) {
		t.Errorf("a claim begins without a place: %v", err)
	}
	take(s, "")
	must(t, "Commit of one that waits", q.commit(t.Context(), q.next(waiting)))
	must(t, "Release", s.Release(t.Context(), c.claim, 0, at(2)))
	p = take(other, "b")
	must(t, "Commit", p.commit(t.Context(), p.next(running)))
	take(s, "")
}

// testLimitsDue compares the runs that are due under limits with those that follow from the limits' definition.
func testLimitsDue(t *testing.T, m Maker) {
	s, made := m.open(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		if made += 100; made > 3000 { // a store on a disk is slow
			return
		}
		traffic, buckets := anyTraffic(t, rt, s, made)
		limit := rapid.IntRange(0, 4).Draw(rt, "limit")
		due, _, err := s.Due(t.Context(), backend.DueQuery{By: at(9), Limit: limit})
		must(t, "Due", err)
		for i := range due {
			bucket := buckets[due[i].Run]
			if bucket == nil || traffic.Available(bucket) == 0 {
				rt.Errorf("%s is due, and has no place", due[i].Run)
				continue
			}
			traffic.Take(bucket, 1)
			delete(buckets, due[i].Run)
		}
		if !slices.IsSortedFunc(due, func(a, b backend.Due) int { return a.Snapshot.Run.Due.Compare(b.Snapshot.Run.Due) }) {
			rt.Error("those that have been due for longest do not come first")
		}
		for id, bucket := range buckets {
			if traffic.Available(bucket) > 0 && (limit == 0 || len(due) < limit) {
				rt.Errorf("%s has a place, and is not due", id)
			}
		}
	})
}

// anyTraffic sets limits and creates due runs, numbered from the given number, and starts some of them. It returns how
// many it starts, and the buckets of the others. A cleanup takes all of them out of the way.
func anyTraffic(t *testing.T, rt *rapid.T, s backend.Store, from int) (*rules.LimiterState, map[string]*rules.Bucket) {
	t.Helper()
	for range rapid.IntRange(1, 3).Draw(rt, "limits") {
		setLimits(t, s, storage.Limit{
			Flow:  rapid.SampledFrom([]string{"", "f", "g"}).Draw(rt, "flow"),
			Label: rapid.SampledFrom([]string{"", "k", "l"}).Draw(rt, "label"),
			Runs:  rapid.IntRange(0, 3).Draw(rt, "runs"),
		})
	}
	limits, err := s.Limits(t.Context())
	must(t, "Limits", err)
	traffic, buckets := rules.NewLimiterState(limits), map[string]*rules.Bucket{}
	for i := range rapid.IntRange(1, 12).Draw(rt, "n") {
		r := labeled(strconv.Itoa(from+i), rapid.SampledFrom([]string{"f", "g"}).Draw(rt, "of"), map[string]string{})
		for _, key := range []string{"k", "l"} {
			if v := rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, key); v != "" {
				r.Labels[key] = v
			}
		}
		r.Due = at(rapid.IntRange(1, 5).Draw(rt, "due"))
		create(t, s, r)
		bucket := &rules.Bucket{Flow: r.Flow, Labels: r.Labels}
		if !rapid.Bool().Draw(rt, "begin") {
			buckets[r.ID] = bucket
			continue
		}
		available := traffic.Available(bucket)
		claim, _, err := s.Begin(t.Context(), r.ID)
		switch {
		case (err == nil) != (available > 0):
			rt.Fatalf("Begin of %s, with %d places free: %v", r.ID, available, err)
		case available > 0:
			traffic.Take(bucket, 1)
			rt.Cleanup(func() { must(t, "Release", s.Release(t.Context(), claim, 0, time.Time{})) })
		default:
			buckets[r.ID] = bucket
		}
	}
	unowned := slices.Collect(maps.Keys(buckets))
	rt.Cleanup(func() {
		for _, id := range unowned {
			claim, _, err := s.Seize(t.Context(), id)
			must(t, "Seize", err)
			must(t, "Release", s.Release(t.Context(), claim, 0, time.Time{}))
		}
		for _, l := range limits {
			setLimits(t, s, storage.Limit{Flow: l.Flow, Label: l.Label})
		}
	})
	return traffic, buckets
}
