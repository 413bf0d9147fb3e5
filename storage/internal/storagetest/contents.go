package storagetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// fullAtom returns an atom in which every field has a value.
func fullAtom(path string) storage.Atom {
	return storage.Atom{
		Path: path, Kind: storage.KindRetry, Incarnation: 3, Attempt: 2, RevertAttempt: 4,
		State: states.TaskReverting, Intention: states.IntendRevert, Undo: storage.UndoLeaves, Signal: "go", Live: true,
		Successor: "next", RunEnd: grow.RunTimedOut,
		Spec: value(map[string]any{"kind": "exec"}), Input: inline("in"), Note: inline("note"), Result: inline("out"),
		Ended: grow.EndHandled,
		Failure: &atom.Failure{
			Atom: path, Code: "C", Message: "broken", Stack: "main.go:1", Attempt: 2, Bare: true,
			Final: true, Untaken: true,
		},

		RevertResult:  inline("undone"),
		RevertFailure: &atom.Failure{Code: "R"},
		Overflow:      2, Tries: &atom.History{
			Earlier: 3,
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
	for i, full := 0, reflect.ValueOf(b); i < full.NumField(); i++ {
		if full.Field(i).IsZero() {
			t.Fatalf("the suite's own atom says nothing in %s", full.Type().Field(i).Name)
		}
	}
	c := storage.Atom{Path: "Ship[3]/Pack#2", State: states.TaskSuccess}
	empty := storage.Atom{Path: "0"}
	overflows := []backend.Payload{
		{Data: codec.EncodeTries(0,
			[]atom.Try{{Value: value("first")}, {Failures: []*atom.Failure{{Code: "B", Message: "busy"}}}})},
		{Data: codec.EncodeTries(1, []atom.Try{{Value: value("third")}})},
	}
	p.write(t, backend.Checkpoint{Payloads: overflows, Atoms: []storage.Atom{empty, b, a, c}})
	same(t, "atoms", []storage.Atom{empty, c, a, b},
		ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a", storage.AtomQuery{})))
	same(t, "atom", b, ask[storage.Atom](t, "Atom")(s.Atom(t.Context(), "a", "b")))
	want(t, "no such atom", errOf(s.Atom(t.Context(), "a", "zz")), storage.ErrNotFound)
	same(t, "all tries", atom.History{
		Tries: []atom.Try{
			{Value: value("first")},
			{Failures: []*atom.Failure{{Code: "B", Message: "busy"}}},
			{Value: value("third")},
			b.Tries.Tries[0], b.Tries.Tries[1],
		},
		Failure: b.Tries.Failure,
	}, ask[atom.History](t, "Tries")(s.Tries(t.Context(), "a", "b")))
	same(t, "tries of no retry", atom.History{}, ask[atom.History](t, "Tries")(s.Tries(t.Context(), "a", "a")))
	want(t, "tries of no atom", errOf(s.Tries(t.Context(), "a", "zz")), storage.ErrNotFound)
	same(t, "atoms at", []storage.Atom{b, a},
		ask[[]storage.Atom](t, "AtomsAt")(s.AtomsAt(t.Context(), "a", "b", "zz", "a")))
	same(t, "another run's", []storage.Atom(nil),
		ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "b", storage.AtomQuery{})))

	b = storage.Atom{Path: "b", State: states.TaskSuccess, Result: inline(2)}
	c.Live = true
	p.write(t, backend.Checkpoint{Atoms: []storage.Atom{b, c}, Forget: []string{"0", "a", "never there"}})
	same(t, "atoms", []storage.Atom{c, b}, ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a", storage.AtomQuery{})))
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
		cp := p.next(backend.Checkpoint{History: entries})
		must(t, "Commit", p.commit(t.Context(), cp))
		all = append(all, cp.History...)
	}
	write(storage.Entry{Kind: storage.EntryFlow, Time: at(1), To: uint8(states.FlowRunning)})
	write(
		storage.Entry{
			Kind: storage.EntryAtom, Time: at(2), Path: "x", From: 1, To: 3, Incarnation: 2, Attempt: 4,
			Failure: &atom.Failure{Code: "C"}, Body: inline("result"), Waited: 1500 * time.Millisecond, Ended: at(1),
		},
		storage.Entry{
			Kind: storage.EntryEvent, Time: at(2), Path: "x", Flow: "Ship[3]", Prev: 0, Type: "TaskFailed",
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
	q.write(t, backend.Checkpoint{Payloads: []backend.Payload{{Data: large("of b")}}})
	first, second := large("first"), large("second")
	p.write(t, backend.Checkpoint{
		Head:     backend.Head{Output: storage.Held{Ref: 2}},
		Payloads: []backend.Payload{{Data: first}, {Data: second}},
		Atoms: []storage.Atom{
			{Path: "x", Live: true, Result: storage.Held{Ref: 1}, Input: storage.Held{Ref: 2}},
			{Path: "y", Live: true, Note: storage.Held{Ref: 1}, RevertResult: storage.Held{Ref: 1}},
		},
		History: []storage.Entry{{Kind: storage.EntryAtom, Path: "x", Body: storage.Held{Ref: 1}}},
	})
	p.write(t, backend.Checkpoint{ // a later reference to an earlier payload, with its data
		Head:    backend.Head{Output: storage.Held{Ref: 2, Data: second}},
		Atoms:   []storage.Atom{{Path: "z", Live: true, Result: storage.Held{Ref: 1, Data: first}}},
		History: []storage.Entry{{Kind: storage.EntryEvent, Type: "E", Body: storage.Held{Ref: 2}}},
	})
	one, two := storage.Held{Ref: 1, Data: first}, storage.Held{Ref: 2, Data: second}
	wantAtoms := []storage.Atom{
		{Path: "x", Live: true, Result: one, Input: two},
		{Path: "y", Live: true, Note: one, RevertResult: one},
		{Path: "z", Live: true, Result: one},
	}
	same(t, "atoms", wantAtoms, ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a", storage.AtomQuery{})))
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
		return joined(ask[[]storage.Undo](t, "Undos")(s.Undos(t.Context(), "a", 0, limit)), func(u storage.Undo) string {
			return fmt.Sprintf("%d%s ", u.N, u.Path)
		})
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
		p.write(t, backend.Checkpoint{Pop: c.pop, Push: c.push})
		if got := top(0); got != c.want {
			t.Fatalf("undo stack is %q, want %q", got, c.want)
		}
		if got := load(t, s, "a").Undos; got != p.undos {
			t.Fatalf("the run counts %d undos, want %d", got, p.undos)
		}
	}
	p.write(t, backend.Checkpoint{Push: []storage.Undo{{Path: "f"}, {Path: "g"}}})
	if got := top(2); got != "3g 2f " {
		t.Errorf("top two: %q", got)
	}
	for below, want := range []string{"3g 2f ", "", "1e ", "2f 1e ", "3g 2f ", "3g 2f "} {
		below := ask[[]storage.Undo](t, "Undos")(s.Undos(t.Context(), "a", int64(below), 2))
		if got := joined(below, func(u storage.Undo) string { return fmt.Sprintf("%d%s ", u.N, u.Path) }); got != want {
			t.Errorf("got %q; want %q", got, want)
		}
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
	p.write(t, backend.Checkpoint{Timers: []storage.TimerRow{x, retry, own}})
	q.write(t, backend.Checkpoint{Timers: []storage.TimerRow{other}})
	timers := func(id string) []storage.TimerRow {
		t.Helper()
		return ask[[]storage.TimerRow](t, "RunTimers")(s.RunTimers(t.Context(), id))
	}
	same(t, "timers of a", []storage.TimerRow{retry, x, own}, timers("a"))
	must(t, "Release", s.Release(t.Context(), q.claim, 0, at(4)))
	same(t, "timers of b", []storage.TimerRow{other}, timers("b"))

	x.Due, x.Incarnation = at(6), 2
	retry.Due = time.Time{}
	p.write(t, backend.Checkpoint{Timers: []storage.TimerRow{x, retry}})
	must(t, "Release", s.Release(t.Context(), p.claim, 0, at(6)))
	same(t, "timers of a, changed", []storage.TimerRow{x, own}, timers("a"))
	same(t, "timers of b, as they were", []storage.TimerRow{other}, timers("b"))
}

// Guarantee (Waiting and time): A nested run is created in its parent's commit, and undone with it. If it cannot be
// created, its node fails.
// Also: `engine: TestDistributedMapCrash` (deaths), `TestNested`.
func testChildren(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	child := storage.Run{ID: "c", Flow: "leg", Parent: "a", Created: at(1), Input: storage.Held{Data: large("in")}}
	later := storage.Run{ID: "d", Flow: "leg", Parent: "a", Created: at(1), Due: at(90)}
	p.write(t, backend.Checkpoint{Head: backend.Head{Time: at(1)}, Children: []storage.Run{child, later}})
	child.Updated, child.Due, child.Refs, child.Input.Ref = at(1), at(1), 1, 1
	same(t, "child", child, load(t, s, "c"))
	later.Updated = at(1)
	same(t, "child with a time of its own", later, load(t, s, "d"))
	twin := storage.Run{ID: "twin"}
	err := p.commit(t.Context(), p.next(backend.Checkpoint{Children: []storage.Run{twin, twin}}))
	want(t, "two children of one id", err, storage.ErrExists)
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
	second := put("h2", "trip", "two")
	if v := second.Version; v != 2 {
		t.Errorf("the second version is %d", v)
	}
	if v := put("h3", "tour", "one").Version; v != 1 {
		t.Errorf("another name's first version is %d", v)
	}
	same(t, "put again", first, put("h1", "trip", "one"))
	same(t, "read", first, ask[storage.Definition](t, "Definition")(s.Definition(t.Context(), "h1")))
	want(t, "no such definition", errOf(s.Definition(t.Context(), "zz")), storage.ErrNotFound)
	for hashes, q := range map[string]backend.DefinitionQuery{
		"h3h2h1": {}, "h2h1": {Name: "trip"}, "h3": {Name: "tour"}, "": {Name: "zz"}, "h1": {Name: "trip", Version: 1},
		"h2": {Name: "trip", Limit: 1}, "h2h1 ": {After: &storage.Definition{Name: "tour", Version: 1}},
		"h1 ": {After: &second, Limit: 5}, " ": {Name: "tour", After: &storage.Definition{Name: "tour", Version: 1}},
		"h3h2": {After: &storage.Definition{Name: "a gone one"}, Limit: 2},
	} {
		list := ask[[]storage.Definition](t, "Definitions")(s.Definitions(t.Context(), q))
		if got := joined(list, func(d storage.Definition) string { return d.Hash }); got != strings.TrimSpace(hashes) {
			t.Errorf("definitions of %+v: %q, want %q", q, got, hashes)
		}
		for _, d := range list {
			if d.Text != nil || d.Language == "" || d.Created.IsZero() {
				t.Errorf("listed %+v", d)
			}
		}
	}
}
