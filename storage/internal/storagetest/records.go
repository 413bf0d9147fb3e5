package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// put writes one record and returns it.
func put(t tester, s backend.Store, w storage.RecordWrite) storage.NamedRecord {
	t.Helper()
	written, err := s.WriteRecords(t.Context(), w)
	must(t, "WriteRecords", err)
	return written[0]
}

// fresh writes a record that must not exist yet.
func fresh(t tester, s backend.Store, kind, key string) storage.NamedRecord {
	t.Helper()
	return put(t, s, storage.RecordWrite{Kind: kind, Key: key, Body: value(key)})
}

// recordsOf returns all records of a kind.
func recordsOf(t tester, s backend.Store, kind string) []storage.NamedRecord {
	t.Helper()
	return ask[[]storage.NamedRecord](t, "NamedRecords")(s.NamedRecords(t.Context(), storage.RecordQuery{Kind: kind}))
}

// checkOf returns the condition that a record has not changed.
func checkOf(r storage.NamedRecord) storage.RecordCheck {
	return storage.RecordCheck{Kind: r.Kind, Key: r.Key, Revision: r.Revision}
}

// wantConflict fails the test unless err names the record that has changed.
func wantConflict(t tester, what string, err error, key string, revision int64) {
	t.Helper()
	conflict, is := errors.AsType[*storage.ConflictError](err)
	if !is || !errors.Is(err, storage.ErrConflict) || conflict.Key != key || conflict.Revision != revision {
		t.Fatalf("%s: got error %v, want a conflict about %q at revision %d", what, err, key, revision)
	}
}

// testRecords writes, replaces and deletes records.
func testRecords(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	before := time.Now().Truncate(time.Microsecond)
	first, err := s.WriteRecords(t.Context(),
		storage.RecordWrite{Kind: "machine", Key: "trip", Body: value("one")},
		storage.RecordWrite{Kind: "machine", Key: "tour", Was: storage.AnyRevision, Body: large("two")},
		storage.RecordWrite{Kind: "alias", Key: "trip"})
	must(t, "WriteRecords", err)
	for i, r := range first {
		if r.Revision <= 0 || i > 0 && r.Revision <= first[i-1].Revision || r.Created.Before(before) ||
			r.Updated != r.Created {
			t.Errorf("records %+v", first)
		}
		same(t, "record", r, ask[storage.NamedRecord](t, "NamedRecord")(other.NamedRecord(t.Context(), r.Kind, r.Key)))
	}
	trip := first[0]
	again := put(t, other, storage.RecordWrite{Kind: "machine", Key: "trip", Was: trip.Revision, Body: value("new")})
	if again.Revision <= first[2].Revision || again.Created != trip.Created || again.Updated.Before(trip.Updated) {
		t.Errorf("%+v after %+v", again, trip)
	}
	same(t, "record", again, ask[storage.NamedRecord](t, "NamedRecord")(s.NamedRecord(t.Context(), "machine", "trip")))

	// If a condition does not hold, nothing changes, regardless of its position.
	all := func() []storage.NamedRecord {
		t.Helper()
		return append(recordsOf(t, s, "machine"), recordsOf(t, s, "alias")...)
	}
	kept := all()
	good := storage.RecordWrite{Kind: "machine", Key: "new", Body: value(1)}
	for what, c := range map[string]struct {
		write    storage.RecordWrite
		revision int64
	}{
		"an old revision": {
			storage.RecordWrite{Kind: "machine", Key: "trip", Was: trip.Revision},
			again.Revision,
		},
		"a revision that is not there": {storage.RecordWrite{Kind: "machine", Key: "none", Was: 1}, 0},
		"a record that is there":       {storage.RecordWrite{Kind: "machine", Key: "trip"}, again.Revision},
		"a delete of an old revision": {
			storage.RecordWrite{Kind: "machine", Key: "trip", Was: trip.Revision, Delete: true},
			again.Revision,
		},
		"a check of an old revision": {
			storage.RecordWrite{Kind: "machine", Key: "trip", Was: trip.Revision, Keep: true},
			again.Revision,
		},
		"a check that it is not there": {storage.RecordWrite{Kind: "machine", Key: "trip", Keep: true}, again.Revision},
	} {
		_, err := s.WriteRecords(t.Context(), good, c.write)
		wantConflict(t, what, err, c.write.Key, c.revision)
		_, err = s.WriteRecords(t.Context(), c.write, good)
		wantConflict(t, what+" first", err, c.write.Key, c.revision)
		same(t, "records after "+what, kept, all())
	}

	// A record is deleted and kept by its revision. A record that is created again is another one.
	out, err := other.WriteRecords(t.Context(),
		storage.RecordWrite{Kind: "machine", Key: "trip", Was: again.Revision, Delete: true},
		storage.RecordWrite{Kind: "machine", Key: "tour", Was: first[1].Revision, Keep: true},
		storage.RecordWrite{Kind: "machine", Key: "none", Keep: true},
		storage.RecordWrite{Kind: "alias", Key: "none", Was: storage.AnyRevision, Delete: true})
	must(t, "WriteRecords", err)
	same(t, "result", []storage.NamedRecord{
		{Kind: "machine", Key: "trip"},
		{Kind: "machine", Key: "tour", Revision: first[1].Revision},
		{Kind: "machine", Key: "none"},
		{Kind: "alias", Key: "none"},
	}, out)
	want(t, "after the delete", errOf(s.NamedRecord(t.Context(), "machine", "trip")), storage.ErrNotFound)
	same(t, "records", []storage.NamedRecord{first[1], first[2]}, all())
	anew := fresh(t, s, "machine", "trip")
	if anew.Revision <= again.Revision || anew.Created.Before(again.Created) {
		t.Errorf("made anew, it is %+v after %+v", anew, again)
	}
	_, err = s.WriteRecords(t.Context(), storage.RecordWrite{Kind: "machine", Key: "trip", Was: again.Revision})
	wantConflict(t, "the revision of the deleted one", err, "trip", anew.Revision)
	out, err = s.WriteRecords(t.Context())
	if len(out) != 0 || err != nil {
		t.Errorf("no writes: %v, %v", out, err)
	}
}

// testRecordsInvalid: the store refuses invalid records, and changes nothing.
func testRecordsInvalid(t *testing.T, m Maker) {
	s := m.open(t)
	fine := storage.RecordWrite{Kind: "k", Key: "fine"}
	for _, bad := range []storage.RecordWrite{
		{Key: "x"},
		{Kind: "k"},
		{Kind: strings.Repeat("k", backend.MaxRecordKind+1), Key: "x"},
		{Kind: "k", Key: strings.Repeat("x", backend.MaxRecordKey+1)},
		{Kind: "k", Key: "\xff"},
		{Kind: "k", Key: "a\x00b"},
		{Kind: "k", Key: "x", Was: -2},
		{Kind: "k", Key: "x", Delete: true},
		{Kind: "k", Key: "x", Was: storage.AnyRevision, Keep: true},
		{Kind: "k", Key: "x", Was: 1, Keep: true, Delete: true},
		{Kind: "k", Key: "x", Was: 1, Delete: true, Body: value(1)},
		{Kind: "k", Key: "x", Was: 1, Keep: true, Body: value(1)},
		{Kind: "k", Key: "x", Body: make([]byte, backend.MaxRecordBody+1)},
		fine,
	} {
		_, err := s.WriteRecords(t.Context(), fine, bad)
		want(t, fmt.Sprintf("%.80v", bad), err, storage.ErrInvalid)
	}
	_, err := s.WriteRecords(t.Context(), slices.Repeat([]storage.RecordWrite{fine}, backend.MaxRecordWrites+1)...)
	want(t, "too many writes", err, storage.ErrInvalid)
	if n := ask[int](t, "CountRecords")(s.CountRecords(t.Context(), "k", "")); n != 0 {
		t.Errorf("%d records are there", n)
	}
	for _, q := range []storage.RecordQuery{
		{},
		{Kind: strings.Repeat("k", backend.MaxRecordKind+1)},
		{Kind: "k", Prefix: "\xff"},
		{Kind: "k", Prefix: strings.Repeat("x", backend.MaxRecordKey+1)},
		{Kind: "k", After: &storage.NamedRecord{Key: "\x00"}},
	} {
		want(t, fmt.Sprintf("%.80v", q), errOf(s.NamedRecords(t.Context(), q)), storage.ErrInvalid)
	}
	long := storage.RecordWrite{
		Kind: strings.Repeat("k", backend.MaxRecordKind), Key: strings.Repeat("ü", backend.MaxRecordKey/2),
		Body: make([]byte, backend.MaxRecordBody),
	}
	same(t, "the largest record", put(t, s, long),
		ask[storage.NamedRecord](t, "NamedRecord")(s.NamedRecord(t.Context(), long.Kind, long.Key)))

	for _, checks := range [][]storage.RecordCheck{
		{{Key: "x"}},
		{{Kind: "k"}},
		{{Kind: "k", Key: "\xff"}},
		{{Kind: "k", Key: "x", Revision: -1}},
		slices.Repeat([]storage.RecordCheck{{Kind: "k", Key: "x"}}, backend.MaxRecordChecks+1),
	} {
		want(t, "Create", s.Create(t.Context(), run("a"), checks...), storage.ErrInvalid)
		want(t, "ClaimNew", errOf2(backend.ClaimNew(run("a"), checks...)), storage.ErrInvalid)
	}
	want(t, "after that", errOf(s.Run(t.Context(), "a")), storage.ErrNotFound)
}

// testRecordListings lists records by key and by time, in both orders, and continues after records that no longer
// exist.
func testRecordListings(t *testing.T, m Maker) {
	s := m.open(t)
	keys := []string{
		"a", "a:1", "a:2", "a\U0010ffff", "a\U0010ffffx", "b\u007f", "b\u0080", "c\ud7ff", "c\ue000", "ü", "\U0010ffff",
		"\U0010ffff\U0010ffffz",
	}
	made := slices.Clone(keys)
	slices.Reverse(made)
	for i, key := range made {
		// Some have the same time, because one call writes them.
		if i%3 == 0 {
			writes := []storage.RecordWrite{{Kind: "k", Key: key}}
			for _, with := range made[i+1 : min(i+3, len(made))] {
				writes = append(writes, storage.RecordWrite{Kind: "k", Key: with})
			}
			must(t, "WriteRecords", errOf(s.WriteRecords(t.Context(), writes...)))
		}
	}
	fresh(t, s, "j", "a")
	fresh(t, s, "l", "a")
	list := func(q storage.RecordQuery) (all []storage.NamedRecord) {
		t.Helper()
		q.Kind = "k"
		return ask[[]storage.NamedRecord](t, "NamedRecords")(s.NamedRecords(t.Context(), q))
	}
	byKey := list(storage.RecordQuery{})
	if got := joined(byKey, keyOf); got != strings.Join(keys, "") {
		t.Fatalf("by key: %q", got)
	}
	byTime := list(storage.RecordQuery{ByTime: true})
	if len(byTime) != len(keys) || !slices.IsSortedFunc(byTime, func(a, b storage.NamedRecord) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	}) {
		t.Fatalf("by time: %q", joined(byTime, keyOf))
	}
	prefixes := append([]string{"", "a:", "b", "c", "zz", "a\U0010ffffx", "\U0010ffff\U0010ffff"}, keys...)
	compare := func() {
		t.Helper()
		for _, prefix := range prefixes {
			for _, all := range [][]storage.NamedRecord{byKey, byTime} {
				for _, reverse := range []bool{false, true} {
					compareListing(t, s, all, storage.RecordQuery{
						Kind: "k", Prefix: prefix, ByTime: &all[0] == &byTime[0], Reverse: reverse,
					})
				}
			}
		}
	}
	compare()
	for _, i := range []int{0, 4, 5, len(keys) - 1} { // the remaining records are found after deleted ones
		gone := byKey[i]
		put(t, s, storage.RecordWrite{Kind: "k", Key: gone.Key, Was: gone.Revision, Delete: true})
	}
	compare()
}

func keyOf(r storage.NamedRecord) string { return r.Key }

// compareListing reads the listing of a query after each of the original records. It finds those that still exist, in
// order.
func compareListing(t tester, s backend.Store, all []storage.NamedRecord, q storage.RecordQuery) {
	t.Helper()
	all = slices.Clone(all)
	if q.Reverse {
		slices.Reverse(all)
	}
	var there []int // indexes of the records that the query selects
	for i, r := range all {
		_, err := s.NamedRecord(t.Context(), r.Kind, r.Key)
		if err == nil && strings.HasPrefix(r.Key, q.Prefix) {
			there = append(there, i)
		}
	}
	for after := -1; after < len(all); after++ {
		q.Limit = 0
		if q.After = nil; after >= 0 {
			q.After = &all[after]
		}
		var expect []storage.NamedRecord
		for _, i := range there {
			if i > after {
				expect = append(expect, all[i])
			}
		}
		what := fmt.Sprintf("after %d of %+v", after, q)
		got := ask[[]storage.NamedRecord](t, what)(s.NamedRecords(t.Context(), q))
		same(t, what, expect, got)
		q.Limit = 2
		got = ask[[]storage.NamedRecord](t, what)(s.NamedRecords(t.Context(), q))
		same(t, what, expect[:min(2, len(expect))], got)
	}
	if n := ask[int](t, "CountRecords")(s.CountRecords(t.Context(), q.Kind, q.Prefix)); n != len(there) {
		t.Fatalf("%d records have the prefix %q, want %d", n, q.Prefix, len(there))
	}
}

// testRecordPages reads records whose bodies do not fit into one page.
func testRecordPages(t *testing.T, m Maker) {
	s := m.open(t)
	const records = 9
	for i := range records {
		put(t, s, storage.RecordWrite{Kind: "k", Key: strconv.Itoa(i), Body: make([]byte, backend.MaxRecordBody)})
	}
	q := storage.RecordQuery{Kind: "k", Limit: records}
	page := ask[[]storage.NamedRecord](t, "NamedRecords")(s.NamedRecords(t.Context(), q))
	if want := storage.PageBytes / backend.MaxRecordBody; len(page) != want {
		t.Errorf("a page has %d records, want %d", len(page), want)
	}
	n := 0
	for r, err := range storage.EachRecord(t.Context(), s, storage.RecordQuery{Kind: "k", Reverse: true}) {
		must(t, "EachRecord", err)
		if n++; r.Key != strconv.Itoa(records-n) {
			t.Errorf("record %d is %q", n, r.Key)
		}
	}
	if n != records {
		t.Errorf("read %d records of %d", n, records)
	}
}

// testRunOnRecords starts runs on conditions, with Create and with a first commit.
//
// Guarantee (G1): A run that requires unchanged named records is created before they change, or not at all.
// Also: `TestStore/RunOnRecordsLimited`, `TestStore/RaceRunsOnRecords`.
func testRunOnRecords(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	machine := fresh(t, s, "machine", "trip")
	holds := []storage.RecordCheck{checkOf(machine), {Kind: "alias", Key: "none"}}
	must(t, "Create", s.Create(t.Context(), run("created"), holds...))
	p := newRun(t, s, run("begun"), holds...)
	first := p.next(backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}})
	must(t, "Commit", p.commit(t.Context(), first))

	post(t, s, storage.Job{ID: "j", Run: "late", Created: at(0)})
	late := run("late")
	late.Job = "j"
	before := job(t, s)
	changed := put(t, other, storage.RecordWrite{Kind: "machine", Key: "trip", Was: machine.Revision, Body: value(2)})
	wantConflict(t, "Create", s.Create(t.Context(), late, holds...), "trip", changed.Revision)
	lost := newRun(t, s, late, holds...)
	wantConflict(t, "Commit", lost.commit(t.Context(), lost.next(backend.Checkpoint{})), "trip", changed.Revision)
	want(t, "after that", errOf(s.Run(t.Context(), "late")), storage.ErrNotFound)
	same(t, "the job", before, job(t, s))
	alias := fresh(t, s, "alias", "none")
	err := s.Create(t.Context(), late, checkOf(changed), holds[1])
	wantConflict(t, "a record that must not exist", err, "none", alias.Revision)

	// The store first checks that the run exists. So it recognizes a repeated first commit.
	must(t, "the same again", s.Commit(t.Context(), p.claim, first))
	want(t, "Create of a run that exists", s.Create(t.Context(), run("begun"), holds...), storage.ErrExists)
	twin := newRun(t, s, run("begun"), holds...)
	want(t, "another first commit", twin.commit(t.Context(), twin.next(backend.Checkpoint{})), storage.ErrExists)
	p.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}}) // later commits check nothing

	put(t, s, storage.RecordWrite{Kind: "machine", Key: "trip", Was: changed.Revision, Delete: true})
	wantConflict(t, "a deleted record", other.Create(t.Context(), late, checkOf(changed)), "trip", 0)
	must(t, "Create", other.Create(t.Context(), late, storage.RecordCheck{Kind: "machine", Key: "trip"}))
	if n := ask[int](t, "CountRecords")(s.CountRecords(t.Context(), "alias", "")); n != 1 {
		t.Errorf("%d records are left of 1", n)
	}
}

// testRunOnRecordsLimited: the conditions also count for a run that waits for a limit.
func testRunOnRecordsLimited(t *testing.T, m Maker) {
	s := m.open(t)
	setLimits(t, s, storage.Limit{Flow: "trip", Runs: 1})
	machine := fresh(t, s, "machine", "trip")
	running := backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}}
	newRun(t, s, run("a"), checkOf(machine)).write(t, running)
	waits := newRun(t, s, run("b"), checkOf(machine))
	want(t, "Commit without a place", waits.commit(t.Context(), waits.next(running)), storage.ErrLimited)
	load(t, s, "b")
	changed := put(t, s, storage.RecordWrite{Kind: "machine", Key: "trip", Was: machine.Revision})
	refused := newRun(t, s, run("c"), checkOf(machine))
	wantConflict(t, "Commit", refused.commit(t.Context(), refused.next(running)), "trip", changed.Revision)
	want(t, "after that", errOf(s.Run(t.Context(), "c")), storage.ErrNotFound)
}

// ignoreTimes removes the times at which records were written.
var ignoreTimes = cmpopts.IgnoreFields(storage.NamedRecord{}, "Created", "Updated")
