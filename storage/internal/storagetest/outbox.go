package storagetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

func testOutbox(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p, q := begin(t, s, "a"), begin(t, s, "b")
	p.write(t, backend.Checkpoint{Outbox: []storage.Outgoing{
		{ID: "a1", Target: "bus", Body: value(1)},
		{ID: "a2", Target: "mail", NotUntil: at(5)},
		{ID: "a3", Target: "bus"},
	}})
	q.write(t, backend.Checkpoint{Outbox: []storage.Outgoing{{ID: "b1", Target: "bus"}, {ID: "b2", Target: "bus"}}})
	list := func(now, limit int) map[string]storage.Outgoing {
		t.Helper()
		out := map[string]storage.Outgoing{}
		last := int64(0)
		for _, o := range ask[[]storage.Outgoing](t, "Outgoing")(s.Outgoing(t.Context(), at(now), limit)) {
			if o.N <= last {
				t.Errorf("outgoing %q has number %d after %d", o.ID, o.N, last)
			}
			last = o.N
			out[o.ID] = o
		}
		return out
	}
	ids := func(now, limit int) string {
		t.Helper()
		return joined(slices.Sorted(maps.Keys(list(now, limit))), func(id string) string { return id + " " })
	}
	expect := func(now, limit int, want string) {
		t.Helper()
		if got := ids(now, limit); got != want {
			t.Fatalf("to be sent by %d: %q, want %q", now, got, want)
		}
	}
	expect(1, 0, "a1 b1 ")
	expect(9, 0, "a1 a2 b1 ")
	expect(9, 1, "a1 ")
	all := list(9, 0)
	same(t, "outgoing", storage.Outgoing{ID: "a1", Run: "a", Target: "bus", Body: value(1)}, all["a1"],
		cmpopts.IgnoreFields(storage.Outgoing{}, "N"))
	must(t, "Sent", s.Sent(t.Context(), all["a1"].N, all["b1"].N))
	expect(1, 0, "a3 b2 ")

	again := list(1, 0)["a3"]
	again.Attempts, again.NotUntil, again.Error = 1, at(4), "refused"
	must(t, "Unsent", s.Unsent(t.Context(), again))
	expect(1, 0, "b2 ")
	same(t, "after a failure", again, list(9, 0)["a3"])
	again.Parked = true
	must(t, "Unsent", s.Unsent(t.Context(), again))
	expect(9, 0, "a2 b2 ")
	parked := ask[[]storage.Outgoing](t, "ParkedMessages")(s.ParkedMessages(t.Context(), 2))
	same(t, "parked", []storage.Outgoing{again}, parked)
	left := func(run string, limit int) string {
		t.Helper()
		return joined(ask[[]storage.Outgoing](t, "RunOutbox")(s.RunOutbox(t.Context(), run, limit)),
			func(o storage.Outgoing) string { return o.ID + " " })
	}
	if a, first, b, none := left("a", 0), left("a", 1), left("b", 0), left("c", 0); a != "a2 a3 " || first != "a2 " ||
		b != "b2 " || none != "" {
		t.Errorf("left to send: %q (first %q), %q, %q", a, first, b, none)
	}
	want(t, "Unsent of nothing", s.Unsent(t.Context(), storage.Outgoing{N: 9999}), storage.ErrNotFound)
}
