package storagetest

import (
	"testing"

	"github.com/ebbflow/ebb/storage"
)

func testOwners(t *testing.T, m Maker) {
	s := m.open(t)
	alive := func() map[string]bool {
		t.Helper()
		out := map[string]bool{}
		for _, o := range ask[[]storage.Owner](t, "Owners")(s.Owners(t.Context())) {
			out[o.ID] = o.Alive
		}
		return out
	}
	other := m.Join(t, s)
	if s.Owner().ID == "" || s.Owner().ID == other.Owner().ID || s.Owner().PID == 0 {
		t.Fatalf("owners are %+v and %+v", s.Owner(), other.Owner())
	}
	same(t, "owners", map[string]bool{s.Owner().ID: true, other.Owner().ID: true}, alive())
	create(t, s, run("a"), run("b"))
	begin(t, s, "a")
	begin(t, other, "b")
	owned := ask[map[string]int](t, "OwnedRuns")(s.OwnedRuns(t.Context()))
	same(t, "OwnedRuns", map[string]int{s.Owner().ID: 1, other.Owner().ID: 1}, owned)
	must(t, "Close", other.Close())
	for _, o := range ask[[]storage.Owner](t, "Owners")(s.Owners(t.Context())) {
		if o.ID == other.Owner().ID && !o.Ended {
			t.Error("a closed store is said to have died")
		}
	}
	if alive()[other.Owner().ID] {
		t.Error("a closed store is said to be alive")
	}
}

func testClosed(t *testing.T, m Maker) {
	s := m.Open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	must(t, "Close", s.Close())
	must(t, "Close again", s.Close())
	for name, err := range Calls(t.Context(), s, p.claim) {
		want(t, name, err, storage.ErrClosed)
	}
}

func testCancelled(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	before := contents(t, s, "a")
	for name, err := range Calls(cancelled(t), s, p.claim) {
		if err == nil {
			t.Errorf("%s succeeds under a cancelled context", name)
		}
	}
	same(t, "run", before, contents(t, s, "a"))
}
