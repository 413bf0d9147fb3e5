package storagetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// testRaceRecords lets many goroutines increment a number in a record. Increments are lost only if the store accepts
// two writes of one revision.
//
// Guarantee (G1): Of several writers of one revision of a named record, one succeeds, with all its writes or none.
// Also: `TestStore/Records`, `TestStore/RecordModel`.
func testRaceRecords(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s), m.join(t, s)}
	var raised [2]atomic.Int64
	race(6, func(i int) {
		for round := range rounds() / 2 {
			key := strconv.Itoa((i + round) % 2)
			for {
				was, err := stores[i%3].NamedRecord(t.Context(), "k", key)
				n := 0
				if err == nil {
					err = was.Body.Decode(&n)
				} else if errors.Is(err, storage.ErrNotFound) {
					err = nil
				}
				if err == nil {
					_, err = stores[i%3].WriteRecords(t.Context(),
						storage.RecordWrite{Kind: "k", Key: key, Was: was.Revision, Body: value(n + 1)})
				}
				if err == nil {
					raised[(i+round)%2].Add(1)
					break
				}
				if !errors.Is(err, storage.ErrConflict) {
					t.Errorf("WriteRecords: %v", err)
					return
				}
			}
		}
	})
	for i := range raised {
		n := int64(0)
		last := ask[storage.NamedRecord](t, "NamedRecord")(s.NamedRecord(t.Context(), "k", strconv.Itoa(i)))
		must(t, "Decode", last.Body.Decode(&n))
		if n != raised[i].Load() {
			t.Errorf("record %d was raised %d times, and is %d", i, raised[i].Load(), n)
		}
	}
}

// testRaceRunsOnRecords lets runs start on a record while another process deletes it, and on a record that does not
// exist while another process creates it. A run that starts was created before the write returned. Other runs of the
// same transactions start in any case.
func testRaceRunsOnRecords(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	for round := range rounds() {
		there := fresh(t, s, "there", strconv.Itoa(round))
		check := checkOf(there)
		write := storage.RecordWrite{Kind: there.Kind, Key: there.Key, Was: there.Revision, Delete: true}
		if round%2 == 0 {
			check = storage.RecordCheck{Kind: "new", Key: there.Key}
			write = storage.RecordWrite{Kind: "new", Key: there.Key}
		}
		const starters = 5
		id := func(i int) string { return fmt.Sprint("run", round, "-", i) }
		var written atomic.Bool
		race(starters+2, func(i int) {
			switch {
			case i == starters:
				if _, err := other.WriteRecords(t.Context(), write); err != nil {
					t.Errorf("WriteRecords: %v", err)
				}
				written.Store(true)
			case i > starters:
				must(t, "Create without a condition", s.Create(t.Context(), run(id(i))))
			default:
				p := newRun(t, s, run(id(i)), check)
				late := written.Load()
				err := p.commit(t.Context(), p.next(backend.Checkpoint{}))
				if err == nil && late {
					t.Errorf("a run starts after the record has changed")
				}
				if err != nil && !errors.Is(err, storage.ErrConflict) {
					t.Errorf("Commit: %v", err)
				}
				if _, missing := s.Run(t.Context(), id(i)); (err == nil) != (missing == nil) {
					t.Errorf("the commit answers %v, and the run %v", err, missing)
				}
			}
		})
	}
}

// testRecordModel compares random writes with a map.
func testRecordModel(t *testing.T, m Maker) {
	w := &recordWorld{store: m.open(t)}
	rapid.Check(t, func(rt *rapid.T) {
		w.checks++
		w.kind, w.records = strconv.Itoa(w.checks), map[string]storage.NamedRecord{}
		rt.Repeat(map[string]func(*rapid.T){"": w.compare, "write": w.write})
	})
}

// A recordWorld is the model beside a store. Each check has its own kind.
type recordWorld struct {
	store   backend.Store
	checks  int
	kind    string
	records map[string]storage.NamedRecord
	last    int64 // last revision
}

func (w *recordWorld) compare(rt *rapid.T) {
	got := recordsOf(rt, w.store, w.kind)
	if len(got) != len(w.records) {
		rt.Fatalf("%d records, want %d", len(got), len(w.records))
	}
	for _, r := range got {
		same(rt, "record", w.records[r.Key], r)
	}
}

func (w *recordWorld) draw(rt *rapid.T) storage.RecordWrite {
	one := storage.RecordWrite{Kind: w.kind, Key: rapid.SampledFrom([]string{"a", "a:1", "b"}).Draw(rt, "key")}
	one.Was = rapid.SampledFrom([]int64{0, storage.AnyRevision, w.records[one.Key].Revision, w.last}).Draw(rt, "was")
	switch rapid.SampledFrom([]string{"put", "put", "delete", "keep"}).Draw(rt, "what") {
	case "put":
		one.Body = value(rapid.IntRange(0, 9).Draw(rt, "body"))
	case "delete":
		one.Delete = true
	default:
		one.Keep = true
	}
	return one
}

// expected returns the error of writes, or nil if they are applied.
func (w *recordWorld) expected(writes []storage.RecordWrite) (expect error) {
	for _, one := range writes {
		switch {
		case backend.CheckRecordWrite(&one) != nil:
			return storage.ErrInvalid
		case one.Was != storage.AnyRevision && one.Was != w.records[one.Key].Revision:
			expect = storage.ErrConflict
		}
	}
	return expect
}

func (w *recordWorld) write(rt *rapid.T) {
	writes := []storage.RecordWrite{w.draw(rt)}
	if second := w.draw(rt); second.Key != writes[0].Key {
		writes = append(writes, second)
	}
	out, err := w.store.WriteRecords(rt.Context(), writes...)
	if expect := w.expected(writes); expect != nil || err != nil {
		want(rt, fmt.Sprintf("WriteRecords %+v", writes), err, expect)
		return
	}
	for i, one := range writes {
		was, there := w.records[one.Key]
		switch {
		case one.Delete:
			delete(w.records, one.Key)
		case !one.Keep:
			if out[i].Revision <= w.last || there && !out[i].Created.Equal(was.Created) ||
				out[i].Updated.Before(was.Updated) {
				rt.Fatalf("%+v after %+v, the last revision is %d", out[i], was, w.last)
			}
			w.last = out[i].Revision
			expect := storage.NamedRecord{Kind: w.kind, Key: one.Key, Revision: w.last, Body: one.Body}
			same(rt, "result", expect, out[i], ignoreTimes)
			w.records[one.Key] = out[i]
		}
	}
}
