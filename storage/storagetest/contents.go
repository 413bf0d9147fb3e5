package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// fullAtom returns an atom in which every field says something.
func fullAtom(path string) storage.Atom {
	return storage.Atom{
		Path: path, Kind: storage.KindRetry, Incarnation: 3, Attempt: 2,
		State: states.TaskReverting, Intention: states.IntendRevert, Live: true,
		Spec: value(map[string]any{"kind": "exec"}), Input: inline("in"), Note: inline("note"), Result: inline("out"),
		Ended:   storage.EndHandled,
		Failure: &atom.Failure{Atom: path, Code: "C", Message: "broken", Stack: "main.go:1", Attempt: 2, Bare: true},

		RevertResult:  inline("undone"),
		RevertFailure: &atom.Failure{Code: "R"},
		Tries: &atom.History{
			Tries:   []atom.Try{{Value: value(1), Failures: []*atom.Failure{{Code: "A"}, {Code: "<B>"}}}, {}},
			Failure: &atom.Failure{Code: "T"},
		},
		Progress: 0.25, Details: value("half"),
		Due: at(3), StartedAt: at(1), EndedAt: time.Unix(0, 0).UTC(),
	}
}

func testAtoms(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p := begin(t, s, "a")
	b, a := fullAtom("b"), storage.Atom{Path: "a", Live: true}
	c := storage.Atom{Path: "Ship[3]/Pack#2", State: states.TaskSuccess}
	p.write(t, storage.Checkpoint{Atoms: []storage.Atom{b, a, c}})
	same(t, "atoms", []storage.Atom{c, a, b}, ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a")))
	same(t, "atom", b, ask[storage.Atom](t, "Atom")(s.Atom(t.Context(), "a", "b")))
	want(t, "no such atom", errOf(s.Atom(t.Context(), "a", "zz")), storage.ErrNotFound)
	same(t, "another run's", []storage.Atom(nil), ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "b")))

	b = storage.Atom{Path: "b", State: states.TaskSuccess, Result: inline(2)}
	c.Live = true
	p.write(t, storage.Checkpoint{Atoms: []storage.Atom{b, c}, Forget: []string{"a", "never there"}})
	same(t, "atoms", []storage.Atom{c, b}, ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a")))
	must(t, "Release", s.Release(t.Context(), p.claim, 0, time.Time{}))
	same(t, "live atoms", []storage.Atom{c}, begin(t, s, "a").snap.Atoms)
}

func testHistory(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p := begin(t, s, "a")
	var all []storage.Entry
	write := func(entries ...storage.Entry) {
		t.Helper()
		cp := p.next(storage.Checkpoint{History: entries})
		must(t, "Commit", p.commit(t.Context(), cp))
		all = append(all, cp.History...)
	}
	write(storage.Entry{Kind: storage.EntryFlow, Time: at(1), To: uint8(states.FlowRunning)})
	write(
		storage.Entry{
			Kind: storage.EntryAtom, Time: at(2), Path: "x", From: 1, To: 3, Incarnation: 2, Attempt: 4,
			Failure: &atom.Failure{Code: "C"}, Body: inline("result"),
		},
		storage.Entry{
			Kind: storage.EntryEvent, Time: at(2), Path: "x", Prev: 0, Type: "TaskFailed",
			Details: value(map[string]string{"cause": large("c").String()}), Key: "output", Body: inline("o"),
		},
	)
	write()
	for i := range 40 {
		write(
			storage.Entry{Kind: storage.EntryAtom, Time: at(i), Path: fmt.Sprint("atom", i)},
			storage.Entry{Kind: storage.EntryEvent, Time: at(i), Type: "E", Prev: int64(i)},
			storage.Entry{Kind: storage.EntryFlow, Time: at(i)},
		)
	}
	for i := range all {
		if all[i].Seq != int64(i)+1 {
			t.Fatalf("the suite's own numbers are wrong: %d at %d", all[i].Seq, i)
		}
	}
	for after := range len(all) + 2 {
		for _, limit := range []int{0, 1, 2, 7, 1000} {
			wantPage := all[min(after, len(all)):]
			if limit > 0 && len(wantPage) > limit {
				wantPage = wantPage[:limit]
			}
			got := ask[[]storage.Entry](t, "History")(s.History(t.Context(), "a", int64(after), limit))
			same(t, fmt.Sprintf("history after %d, limit %d", after, limit), wantPage, got)
		}
	}
	if got := load(t, s, "a"); got.Entries != int64(len(all)) || got.Events != 41 {
		t.Errorf("the run counts %d entries and %d events", got.Entries, got.Events)
	}
	same(t, "another run's", []storage.Entry(nil), ask[[]storage.Entry](t, "History")(s.History(t.Context(), "b", 0, 0)))
}

func testPayloads(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p := begin(t, s, "a")
	q := begin(t, s, "b")
	q.write(t, storage.Checkpoint{Payloads: []storage.Payload{{Data: large("of b")}}})
	first, second := large("first"), large("second")
	p.write(t, storage.Checkpoint{
		Head:     storage.Head{Output: storage.Held{Ref: 2}},
		Payloads: []storage.Payload{{Data: first}, {Data: second}},
		Atoms: []storage.Atom{
			{Path: "x", Live: true, Result: storage.Held{Ref: 1}, Input: storage.Held{Ref: 2}},
			{Path: "y", Live: true, Note: storage.Held{Ref: 1}, RevertResult: storage.Held{Ref: 1}},
		},
		History: []storage.Entry{{Kind: storage.EntryAtom, Path: "x", Body: storage.Held{Ref: 1}}},
	})
	p.write(t, storage.Checkpoint{ // a later reference to an earlier payload, its data beside it
		Head:    storage.Head{Output: storage.Held{Ref: 2, Data: second}},
		Atoms:   []storage.Atom{{Path: "z", Live: true, Result: storage.Held{Ref: 1, Data: first}}},
		History: []storage.Entry{{Kind: storage.EntryEvent, Type: "E", Body: storage.Held{Ref: 2}}},
	})
	one, two := storage.Held{Ref: 1, Data: first}, storage.Held{Ref: 2, Data: second}
	wantAtoms := []storage.Atom{
		{Path: "x", Live: true, Result: one, Input: two},
		{Path: "y", Live: true, Note: one, RevertResult: one},
		{Path: "z", Live: true, Result: one},
	}
	same(t, "atoms", wantAtoms, ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a")))
	same(t, "output", two, load(t, s, "a").Output)
	history := ask[[]storage.Entry](t, "History")(s.History(t.Context(), "a", 0, 0))
	same(t, "bodies", []storage.Held{one, two}, []storage.Held{history[0].Body, history[1].Body})
	must(t, "Release", s.Release(t.Context(), p.claim, 0, time.Time{}))
	snap := begin(t, s, "a").snap
	same(t, "snapshot", wantAtoms, snap.Atoms)
	same(t, "output in the snapshot", two, snap.Run.Output)
}

func testUndoStack(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p := begin(t, s, "a")
	top := func(limit int) string {
		t.Helper()
		out := ""
		for _, u := range ask[[]storage.Undo](t, "Undos")(s.Undos(t.Context(), "a", limit)) {
			out += fmt.Sprintf("%d%s ", u.N, u.Path)
		}
		return out
	}
	for _, c := range []struct {
		pop  int
		push []storage.Undo
		want string
	}{
		{0, []storage.Undo{{Path: "a"}}, "1a "},
		{0, []storage.Undo{{Path: "b"}, {Path: "c"}}, "3c 2b 1a "},
		{1, nil, "2b 1a "},
		{1, []storage.Undo{{Path: "d"}, {Path: "a"}}, "3a 2d 1a "},
		{3, nil, ""},
		{0, []storage.Undo{{Path: "e"}}, "1e "},
	} {
		p.write(t, storage.Checkpoint{Pop: c.pop, Push: c.push})
		if got := top(0); got != c.want {
			t.Fatalf("undo stack is %q, want %q", got, c.want)
		}
		if got := load(t, s, "a").Undos; got != p.undos {
			t.Fatalf("the run counts %d undos, want %d", got, p.undos)
		}
	}
	p.write(t, storage.Checkpoint{Push: []storage.Undo{{Path: "f"}, {Path: "g"}}})
	if got := top(2); got != "3g 2f " {
		t.Errorf("top two: %q", got)
	}
}

func testTimers(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p, q := begin(t, s, "a"), begin(t, s, "b")
	x := storage.TimerRow{Run: "a", Path: "x", Incarnation: 1, Kind: storage.TimerWait, Due: at(5)}
	retry := storage.TimerRow{Run: "a", Path: "x", Kind: storage.TimerRetry, Due: at(3)}
	own := storage.TimerRow{Run: "a", Kind: storage.TimerDeadline, Due: at(99)}
	other := storage.TimerRow{Run: "b", Path: "x", Kind: storage.TimerWait, Due: at(4)}
	p.write(t, storage.Checkpoint{Timers: []storage.TimerRow{x, retry, own}})
	q.write(t, storage.Checkpoint{Timers: []storage.TimerRow{other}})
	timers := func(by, limit int) []storage.TimerRow {
		t.Helper()
		return ask[[]storage.TimerRow](t, "Timers")(s.Timers(t.Context(), at(by), limit))
	}
	same(t, "timers of one run", []storage.TimerRow{retry, x, own},
		ask[[]storage.TimerRow](t, "RunTimers")(s.RunTimers(t.Context(), "a")))
	same(t, "timers of owned runs", []storage.TimerRow(nil), timers(9, 0))
	must(t, "Release", s.Release(t.Context(), q.claim, 0, at(4)))
	same(t, "timers of b", []storage.TimerRow{other}, timers(9, 0))

	x.Due, x.Incarnation = at(6), 2
	retry.Due = time.Time{}
	p.write(t, storage.Checkpoint{Timers: []storage.TimerRow{x, retry}})
	must(t, "Release", s.Release(t.Context(), p.claim, 0, at(6)))
	same(t, "due by 3", []storage.TimerRow(nil), timers(3, 0))
	same(t, "due by 6", []storage.TimerRow{other, x}, timers(6, 0))
	same(t, "limit", []storage.TimerRow{other}, timers(99, 1))
	same(t, "all", []storage.TimerRow{other, x, own}, timers(99, 0))
}

func testChildren(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	child := storage.Run{ID: "c", Flow: "leg", Parent: "a", Created: at(1), Input: storage.Held{Data: large("in")}}
	later := storage.Run{ID: "d", Flow: "leg", Parent: "a", Created: at(1), Due: at(90)}
	p.write(t, storage.Checkpoint{Head: storage.Head{Time: at(1)}, Children: []storage.Run{child, later}})
	child.Updated, child.Due, child.Refs, child.Input.Ref = at(1), at(1), 1, 1
	same(t, "child", child, load(t, s, "c"))
	later.Updated = at(1)
	same(t, "child with a time of its own", later, load(t, s, "d"))
	twin := storage.Run{ID: "twin"}
	err := p.commit(t.Context(), p.next(storage.Checkpoint{Children: []storage.Run{twin, twin}}))
	want(t, "two children of one id", err, storage.ErrExists)
}

func testOutbox(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("b"))
	p, q := begin(t, s, "a"), begin(t, s, "b")
	p.write(t, storage.Checkpoint{Outbox: []storage.Outgoing{
		{ID: "a1", Target: "bus", Body: value(1)},
		{ID: "a2", Target: "mail", NotUntil: at(5)},
		{ID: "a3", Target: "bus"},
	}})
	q.write(t, storage.Checkpoint{Outbox: []storage.Outgoing{{ID: "b1", Target: "bus"}, {ID: "b2", Target: "bus"}}})
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
		got := list(now, limit)
		out := ""
		for _, id := range []string{"a1", "a2", "a3", "b1", "b2"} {
			if _, there := got[id]; there {
				out += id + " "
			}
		}
		return out
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
	want(t, "Unsent of nothing", s.Unsent(t.Context(), storage.Outgoing{N: 9999}), storage.ErrNotFound)
}

func testDefinitions(t *testing.T, m Maker) {
	s := m.open(t)
	put := func(hash, name, text string) storage.Definition {
		t.Helper()
		return ask[storage.Definition](t, "PutDefinition")(s.PutDefinition(t.Context(), storage.Definition{
			Hash: hash, Name: name, Language: "asl", Text: []byte(text), Created: at(1),
		}))
	}
	first := put("h1", "trip", "one")
	same(t, "first", storage.Definition{
		Hash: "h1", Name: "trip", Version: 1, Language: "asl", Text: []byte("one"), Created: at(1),
	}, first)
	if v := put("h2", "trip", "two").Version; v != 2 {
		t.Errorf("the second version is %d", v)
	}
	if v := put("h3", "tour", "one").Version; v != 1 {
		t.Errorf("another name's first version is %d", v)
	}
	same(t, "put again", first, put("h1", "trip", "one"))
	same(t, "read", first, ask[storage.Definition](t, "Definition")(s.Definition(t.Context(), "h1")))
	want(t, "no such definition", errOf(s.Definition(t.Context(), "zz")), storage.ErrNotFound)
}

func testPurge(t *testing.T, m Maker) {
	s := m.open(t)
	full := func(id string) *pen {
		t.Helper()
		r := run(id)
		r.Labels = map[string]string{"of": "purge"}
		create(t, s, r)
		must(t, "Send", s.Send(t.Context(), storage.Letter{Run: id, Kind: "signal", Key: "k", Sent: at(0)}))
		p := begin(t, s, id)
		p.write(t, storage.Checkpoint{
			Atoms:    []storage.Atom{{Path: "x", Live: true, Result: storage.Held{Ref: 1}}},
			Payloads: []storage.Payload{{Data: large(id)}},
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
	owned.write(t, storage.Checkpoint{Head: storage.Head{State: states.FlowSuccess}})
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
	// Nothing of the old run shines through when its id is used again.
	create(t, s, run("a"))
	again := contents(t, s, "a")
	fresh := run("a")
	fresh.Updated = fresh.Created
	same(t, "a new run of the old id", everything{Run: fresh}, again)
	must(t, "Send", s.Send(t.Context(), storage.Letter{Run: "a", Kind: "signal", Key: "k"}))
	if bell, _, err := s.Bell(t.Context(), "a"); err != nil || bell != 1 {
		t.Errorf("a letter's key is remembered beyond a purge: bell %d, %v", bell, err)
	}
}

// everything is all that can be read of a run.
type everything struct {
	Run     storage.Run
	Atoms   []storage.Atom
	History []storage.Entry
	Undos   []storage.Undo
	Timers  []storage.TimerRow
	Letters []storage.Letter
}

func contents(t tester, s storage.Store, id string) everything {
	t.Helper()
	_, letters, err := s.Bell(t.Context(), id)
	must(t, "Bell", err)
	return everything{
		Run:     load(t, s, id),
		Atoms:   ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), id)),
		History: ask[[]storage.Entry](t, "History")(s.History(t.Context(), id, 0, 0)),
		Undos:   ask[[]storage.Undo](t, "Undos")(s.Undos(t.Context(), id, 0)),
		Timers:  ask[[]storage.TimerRow](t, "RunTimers")(s.RunTimers(t.Context(), id)),
		Letters: letters,
	}
}

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
	must(t, "Close", other.Close())
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
	for name, err := range calls(t, s, p) {
		want(t, name, err, storage.ErrClosed)
	}
}

func testCancelled(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	before := contents(t, s, "a")
	for name, err := range callsIn(cancelled(t), s, p) {
		if err == nil {
			t.Errorf("%s succeeds under a cancelled context", name)
		}
	}
	same(t, "run", before, contents(t, s, "a"))
}
