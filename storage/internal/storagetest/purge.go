package storagetest

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func testPurge(t *testing.T, m Maker) {
	s := m.open(t)
	full := func(id string) *pen {
		t.Helper()
		r := run(id)
		r.Labels = map[string]string{"of": "purge"}
		create(t, s, r)
		must(t, "Send", s.Send(t.Context(), storage.Message{Run: id, Kind: "signal", Key: "k", Sent: at(0)}))
		p := begin(t, s, id)
		p.write(t, backend.Checkpoint{
			Atoms:    []storage.Atom{{Path: "x", Live: true, Result: storage.Held{Ref: 1}}},
			Payloads: []backend.Payload{{Data: large(id)}},
			History:  []storage.Entry{{Path: "x", Time: at(1)}},
			Push:     []storage.Undo{{Path: "x"}},
			Timers:   []storage.TimerRow{{Path: "x", Due: at(5)}},
			Tokens:   []storage.Token{{ID: "t-" + id, Path: "x"}},
			Outbox:   []storage.Outgoing{{ID: "o-" + id, Target: "bus"}},
		})
		return p
	}
	full("a").finish(t, states.FlowSuccess)
	owned := full("b")
	owned.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess}})
	running := full("c")
	must(t, "Release", s.Release(t.Context(), running.claim, 1, time.Time{}))
	full("d").finish(t, states.FlowReverted)
	kept := contents(t, s, "c")

	n := ask[int](t, "Purge")(s.Purge(t.Context(), "a", "b", "c", "zz"))
	if n != 1 {
		t.Fatalf("purged %d runs, want 1", n)
	}
	want(t, "the purged run", errOf(s.Run(t.Context(), "a")), storage.ErrNotFound)
	want(t, "its token", errOf(s.Token(t.Context(), "t-a")), storage.ErrNotFound)
	if got := ids(t, s, storage.RunQuery{Labels: map[string]string{"of": "purge"}}); got != "dcb" {
		t.Errorf("left are %q", got)
	}
	same(t, "a run that was left", kept, contents(t, s, "c"))
	if out := ask[[]storage.Outgoing](t, "Outgoing")(s.Outgoing(t.Context(), at(9), 0)); len(out) != 4 {
		t.Errorf("%d things are to be sent, want 4: a purge keeps what was not sent", len(out))
	}
	// A new run with the same id shows nothing of the old run.
	create(t, s, run("a"))
	again := contents(t, s, "a")
	fresh := run("a")
	fresh.Updated = fresh.Created
	same(t, "a new run of the old id", everything{Run: fresh}, again)
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal", Key: "k"}))
	if wakeups, _, err := s.Messages(t.Context(), "a", 0); err != nil || wakeups != 1 {
		t.Errorf("a message's key is remembered beyond a purge: wakeup counter %d, %v", wakeups, err)
	}
}

// testDiscard deletes a run that is driven. Its owner loses the claim, and its id and key are free.
func testDiscard(t *testing.T, m Maker) {
	s := m.open(t)
	r := run("a")
	r.Key = "only"
	create(t, s, r)
	p := begin(t, s, "a")
	p.write(t, backend.Checkpoint{Tokens: []storage.Token{{ID: "t", Path: "x", Queue: "q"}}})
	if n := ask[int](t, "Discard")(s.Discard(t.Context(), "a", "zz")); n != 1 {
		t.Fatalf("discarded %d runs, want 1", n)
	}
	want(t, "the run", errOf(s.Run(t.Context(), "a")), storage.ErrNotFound)
	want(t, "its token", errOf(s.Token(t.Context(), "t")), storage.ErrNotFound)
	late := func() error { return p.commit(t.Context(), p.next(backend.Checkpoint{})) }
	want(t, "its owner's commit", late(), storage.ErrNotFound)
	create(t, s, r)
	want(t, "its owner's commit to the new run", late(), storage.ErrFenced)
	begin(t, s, "a").finish(t, states.FlowSuccess)
	b := run("b")
	b.Key = "other"
	create(t, s, b)
	ask[int](t, "Discard")(s.Discard(t.Context(), "b"))
	b.ID = "c"
	create(t, s, b)
}

// everything returns all records of a run.
type everything struct {
	Run      storage.Run
	Atoms    []storage.Atom
	History  []storage.Entry
	Undos    []storage.Undo
	Timers   []storage.TimerRow
	Messages []storage.Message
}

// filled returns the contents with nil instead of empty lists, so that equal contents are deeply equal. Only different
// contents then need the slow comparison of same.
func (e everything) filled() everything {
	e.Atoms, e.History, e.Undos = filled(e.Atoms), filled(e.History), filled(e.Undos)
	e.Timers, e.Messages = filled(e.Timers), filled(e.Messages)
	return e
}

func filled[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func contents(t tester, s backend.Store, id string) everything {
	t.Helper()
	_, messages, err := s.Messages(t.Context(), id, 0)
	must(t, "Messages", err)
	return everything{
		Run:      load(t, s, id),
		Atoms:    ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), id, storage.AtomQuery{})),
		History:  ask[[]storage.Entry](t, "History")(s.History(t.Context(), id, 0, 0)),
		Undos:    ask[[]storage.Undo](t, "Undos")(s.Undos(t.Context(), id, 0, 0)),
		Timers:   ask[[]storage.TimerRow](t, "RunTimers")(s.RunTimers(t.Context(), id)),
		Messages: messages,
	}
}
