package storagetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// testEvents compares random pages of events with a filter over the whole history. The history has stretches without
// events, events that are only counted, commits with very many entries, and values of all sizes.
func testEvents(t *testing.T, m Maker) {
	const (
		commits = 60
		queries = 300
	)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test needs no secret numbers
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p := begin(t, s, "a")
	for range commits {
		p.commitEvents(t, random)
	}
	var events []storage.Entry
	for e, err := range storage.EachEntry(t.Context(), s, "a", 0) {
		must(t, "EachEntry", err)
		if e.Kind == storage.EntryEvent {
			events = append(events, e)
		}
	}
	last := p.head.Events
	for range queries {
		q := storage.EventQuery{After: random.Int64N(last + 3), Reverse: random.IntN(2) == 0, Limit: random.IntN(60)}
		if q.After == 0 && q.Limit == 0 {
			q.Limit = 1
		}
		want := selectedEvents(events, q)
		if q.Limit > 0 {
			want = want[:min(q.Limit, len(want))]
		}
		got := ask[[]storage.Entry](t, "Events")(s.Events(t.Context(), "a", q))
		if q.Limit > 0 && len(got) > 0 { // a page may end early
			want = want[:min(len(got), len(want))]
		}
		same(t, fmt.Sprintf("events of %+v", q), want, got)
	}
	for _, q := range []storage.EventQuery{
		{}, {Reverse: true}, {After: last / 2}, {After: last / 2, Reverse: true, Limit: 50},
	} {
		var got []storage.Entry
		for e, err := range storage.EachEvent(t.Context(), s, "a", q) {
			must(t, "EachEvent", err)
			got = append(got, e)
		}
		want := selectedEvents(events, q)
		if q.Limit > 0 {
			want = want[:min(q.Limit, len(want))]
		}
		same(t, fmt.Sprintf("all events of %+v", q), want, got)
	}
	none := ask[[]storage.Entry](t, "Events")(s.Events(t.Context(), "b", storage.EventQuery{Reverse: true}))
	if len(none) > 0 {
		t.Errorf("a run without a history has %d events", len(none))
	}
}

// selectedEvents returns the events that a query selects, in its order and without its limit.
func selectedEvents(events []storage.Entry, q storage.EventQuery) []storage.Entry {
	var out []storage.Entry
	for _, e := range events {
		if q.After == 0 || !q.Reverse && e.Number > q.After || q.Reverse && e.Number < q.After {
			out = append(out, e)
		}
	}
	if q.Reverse {
		slices.Reverse(out)
	}
	return out
}

// commitEvents commits a random part of a history.
func (p *pen) commitEvents(t *testing.T, random *rand.Rand) {
	t.Helper()
	var cp backend.Checkpoint
	entries, told := random.IntN(5), random.IntN(3) > 0
	switch random.IntN(12) {
	case 0:
		entries = 1500
	case 1:
		entries, cp.Untold = 0, 7
	case 2:
		entries, told = 400, false
	}
	for range entries {
		e := storage.Entry{Kind: storage.EntryAtom, Path: "x", Time: at(1), From: 1, To: 2}
		if told && random.IntN(3) > 0 {
			e = storage.Entry{Kind: storage.EntryEvent, Type: "Did", Path: "x", Time: at(1), Key: "k"}
			e.Body = inline(random.IntN(99))
		}
		if random.IntN(300) == 0 {
			data := large(strconv.Itoa(random.IntN(99)))
			cp.Payloads = append(cp.Payloads, backend.Payload{Data: data})
			e.Body = storage.Held{Ref: p.head.Refs + int64(len(cp.Payloads)), Data: data}
		}
		cp.History = append(cp.History, e)
	}
	next := p.next(cp)
	next.Head.Events += cp.Untold
	must(t, "Commit", p.commit(t.Context(), next))
}
