package storagetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func testCreate(t *testing.T, m Maker) {
	s := m.open(t)
	r := storage.Run{
		ID: "trip-1", Flow: "trip", Definition: "d1", Structure: "s1", Parent: "tour", Trace: "00-abc-01",
		Labels: map[string]string{"customer": "ann", "kind": "test"},
		Input:  inline(map[string]int{"days": 3}), Attrs: value("strict"), Created: at(0), Due: at(9),
	}
	create(t, s, r)
	r.Updated = r.Created
	same(t, "run", r, load(t, s, r.ID))

	r.Labels["customer"] = "changed by the caller"
	if got := load(t, s, r.ID).Labels["customer"]; got != "ann" {
		t.Errorf("the stored label follows the caller's map: %q", got)
	}
	want(t, "Create again", s.Create(t.Context(), run("trip-1")), storage.ErrExists)

	forged := run("forged")
	forged.Seq, forged.Fence, forged.Owner, forged.ClaimID, forged.Bell, forged.Entries = 7, 7, "me", "mine", 7, 7
	create(t, s, forged)
	wantRun := run("forged")
	wantRun.Updated = at(0)
	same(t, "counters are the store's", wantRun, load(t, s, "forged"))

	for _, bad := range []storage.Run{
		{},
		{ID: strings.Repeat("x", storage.MaxID+1)},
		{ID: "x", Input: storage.Held{Ref: 1}},
		{ID: "x", Labels: map[string]string{"": "v"}},
		{ID: "x", Labels: map[string]string{"k": strings.Repeat("v", storage.MaxLabel+1)}},
	} {
		want(t, fmt.Sprintf("Create %.40v", bad), s.Create(t.Context(), bad), storage.ErrInvalid)
	}
	want(t, "nothing was created", errOf(s.Run(t.Context(), "x")), storage.ErrNotFound)
}

// errOf returns the error of an answer.
func errOf[T any](_ T, err error) error { return err }

func testCreateLargeInput(t *testing.T, m Maker) {
	s := m.open(t)
	r := run("a")
	r.Input = storage.Held{Data: large("in")}
	create(t, s, r)
	got := load(t, s, "a")
	same(t, "input", storage.Held{Ref: 1, Data: large("in")}, got.Input)
	if got.Refs != 1 {
		t.Fatalf("the run has %d payloads, want 1", got.Refs)
	}
	p := begin(t, s, "a")
	p.write(t, storage.Checkpoint{
		Payloads: []storage.Payload{{Data: large("out")}},
		Atoms:    []storage.Atom{{Path: "x", Result: storage.Held{Ref: 2}, Input: storage.Held{Ref: 1}}},
	})
	same(t, "atom", storage.Atom{
		Path: "x", Result: storage.Held{Ref: 2, Data: large("out")}, Input: storage.Held{Ref: 1, Data: large("in")},
	}, ask[storage.Atom](t, "Atom")(s.Atom(t.Context(), "a", "x")))
}

// ids returns the ids of the runs that are listed.
func ids(t testing.TB, s storage.Store, q storage.RunQuery) string {
	t.Helper()
	out := ""
	for _, r := range ask[[]storage.Run](t, "Runs")(s.Runs(t.Context(), q)) {
		out += r.ID
	}
	return out
}

func testRuns(t *testing.T, m Maker) {
	s := m.open(t)
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		r := run(id)
		r.Labels = map[string]string{"odd": fmt.Sprint(i%2 == 1), "id": id}
		if i > 2 {
			r.Flow = "tour"
		}
		create(t, s, r)
	}
	begin(t, s, "b").finish(t, states.FlowSuccess)
	begin(t, s, "d").finish(t, states.FlowReverted)
	for _, c := range []struct {
		name string
		q    storage.RunQuery
		want string
	}{
		{"all", storage.RunQuery{}, "edcba"},
		{"limit", storage.RunQuery{Limit: 2}, "ed"},
		{"page", storage.RunQuery{Limit: 2, Before: "d"}, "cb"},
		{"last page", storage.RunQuery{Limit: 9, Before: "b"}, "a"},
		{"beyond", storage.RunQuery{Before: "a"}, ""},
		{"flow", storage.RunQuery{Flow: "tour"}, "ed"},
		{"state", storage.RunQuery{States: []states.Flow{states.FlowSuccess}}, "b"},
		{"states", storage.RunQuery{States: []states.Flow{states.FlowSuccess, states.FlowReverted}}, "db"},
		{"label", storage.RunQuery{Labels: map[string]string{"odd": "false"}}, "eca"},
		{"labels", storage.RunQuery{Labels: map[string]string{"odd": "false", "id": "c"}}, "c"},
		{"labels that exclude each other", storage.RunQuery{Labels: map[string]string{"odd": "true", "id": "c"}}, ""},
		{"no such label", storage.RunQuery{Labels: map[string]string{"colour": "red"}}, ""},
		{"all of it", storage.RunQuery{
			Flow: "tour", States: []states.Flow{states.FlowReverted},
			Labels: map[string]string{"id": "d"}, Limit: 1, Before: "e",
		}, "d"},
	} {
		if got := ids(t, s, c.q); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	want(t, "page after no run", errOf(s.Runs(t.Context(), storage.RunQuery{Before: "zz"})), storage.ErrNotFound)
}

func testRunsDue(t *testing.T, m Maker) {
	s := m.open(t)
	for id, due := range map[string]time.Time{"late": at(9), "soon": at(3), "first": at(1), "never": {}} {
		r := run(id)
		r.Due = due
		create(t, s, r)
	}
	due := func(by int) string { t.Helper(); return ids(t, s, storage.RunQuery{Due: at(by)}) }
	if got := due(5); got != "firstsoon" {
		t.Errorf("due by 5: %q", got)
	}
	if got := ids(t, s, storage.RunQuery{Due: at(9), Before: "first", Limit: 1}); got != "soon" {
		t.Errorf("second page: %q", got)
	}
	p := begin(t, s, "first")
	if got := due(5); got != "soon" {
		t.Errorf("due while first is owned: %q", got)
	}
	must(t, "Release", s.Release(t.Context(), p.claim, 0, at(4)))
	if got := due(5); got != "soonfirst" {
		t.Errorf("due after release: %q", got)
	}
	must(t, "Send", s.Send(t.Context(), storage.Letter{Run: "never", Kind: "signal"}))
	later := time.Now().Add(time.Minute)
	if got := ids(t, s, storage.RunQuery{Due: later}); got != "soonfirstlatenever" {
		t.Errorf("due after a letter: %q", got)
	}
}

func testBegin(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	create(t, s, run("a"))
	want(t, "Begin of no run", errOf2(s.Begin(t.Context(), "zz")), storage.ErrNotFound)

	p := begin(t, s, "a")
	if p.claim.Run != "a" || p.claim.Fence != 1 || p.claim.ID == "" {
		t.Fatalf("claim is %+v", p.claim)
	}
	same(t, "run", storage.Run{
		ID: "a", Flow: "trip", Created: at(0), Updated: at(0), Fence: 1, ClaimID: p.claim.ID, Owner: s.Owner().ID,
	}, p.snap.Run)

	for name, begin := range map[string]storage.Store{"the same owner": s, "another owner": other} {
		_, _, err := begin.Begin(t.Context(), "a")
		var owned *storage.OwnedError
		if !errors.As(err, &owned) {
			t.Fatalf("Begin by %s: %v", name, err)
		}
		if owned.Run != "a" || owned.Owner.ID != s.Owner().ID || owned.Owner.PID != s.Owner().PID || !owned.Owner.Alive {
			t.Errorf("Begin by %s: owner is %+v", name, owned)
		}
	}
	must(t, "Release", s.Release(t.Context(), p.claim, 0, time.Time{}))
	q := begin(t, other, "a")
	if q.claim.Fence != 2 || q.claim.ID == p.claim.ID || q.snap.Run.Owner != other.Owner().ID {
		t.Errorf("the second claim is %+v of %q", q.claim, q.snap.Run.Owner)
	}
	want(t, "Commit under the old claim", p.commit(t.Context(), p.next(storage.Checkpoint{})), storage.ErrFenced)
}

func errOf2[T, U any](_ T, _ U, err error) error { return err }

func testBeginAfterOwnerClosed(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.Join(t, s)
	create(t, s, run("a"))
	p := begin(t, other, "a")
	p.write(t, storage.Checkpoint{Head: storage.Head{State: states.FlowRunning}})
	must(t, "Close", other.Close())
	if got := ids(t, s, storage.RunQuery{Due: time.Now().Add(time.Minute)}); got != "a" {
		t.Errorf("runs of a closed owner that are due: %q", got)
	}
	q := begin(t, s, "a")
	same(t, "run", storage.Run{
		ID: "a", Flow: "trip", State: states.FlowRunning, Created: at(0), Updated: at(1), Seq: 1,
		Fence: 2, ClaimID: q.claim.ID, Owner: s.Owner().ID,
	}, q.snap.Run)
	want(t, "Commit by the closed store", p.commit(t.Context(), p.next(storage.Checkpoint{})), storage.ErrClosed)
}

func testCommit(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	p.write(t, storage.Checkpoint{Head: storage.Head{
		State: states.FlowRunning, Memory: value("frontier"), Started: at(2), Time: at(2),
	}})
	p.write(t, storage.Checkpoint{
		Head: storage.Head{
			State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndonePart, Hold: true,
			Output: inline(1), Failure: &atom.Failure{Atom: "x", Code: "C", Message: "m", Attempt: 2},
			Started: at(2), Ended: at(3), Time: at(3),
		},
		Letters: []storage.Letter{{Run: "zz", Kind: "cancel"}}, // to nobody
	})
	same(t, "run", storage.Run{
		ID: "a", Flow: "trip", State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndonePart, Hold: true,
		Output: inline(1), Failure: &atom.Failure{Atom: "x", Code: "C", Message: "m", Attempt: 2},
		Created: at(0), Started: at(2), Updated: at(3), Ended: at(3), Seq: 2, Memory: value("frontier"),
		Fence: 1, ClaimID: p.claim.ID, Owner: s.Owner().ID,
	}, load(t, s, "a"))

	wrong := p.claim
	wrong.ID = "someone else's"
	want(t, "Commit under another id", s.Commit(t.Context(), wrong, p.next(storage.Checkpoint{})), storage.ErrFenced)
	wrong = p.claim
	wrong.Fence++
	want(t, "Commit under another fence", s.Commit(t.Context(), wrong, p.next(storage.Checkpoint{})), storage.ErrFenced)
	ahead := p.next(storage.Checkpoint{})
	ahead.Head.Seq++
	want(t, "Commit out of order", s.Commit(t.Context(), p.claim, ahead), storage.ErrFenced)
	wrong = p.claim
	wrong.Run = "zz"
	want(t, "Commit to no run", s.Commit(t.Context(), wrong, p.next(storage.Checkpoint{})), storage.ErrNotFound)
}

// testCommitIsAtomic commits checkpoints that carry everything and are refused
// by what a store looks at last.
func testCommitIsAtomic(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("taken"), run("to"))
	must(t, "PostJob", s.PostJob(t.Context(), storage.Job{ID: "j", Run: "a", Created: at(0)}))
	must(t, "Send", s.Send(t.Context(), storage.Letter{Run: "a", Kind: "signal", Sent: at(0)}))
	p := begin(t, s, "a")
	full := storage.Checkpoint{
		Head:     storage.Head{State: states.FlowRunning, Memory: value(1)},
		Atoms:    []storage.Atom{{Path: "x", Live: true}},
		Payloads: []storage.Payload{{Data: large("p")}},
		History:  []storage.Entry{{Path: "x", Time: at(1)}},
		Push:     []storage.Undo{{Path: "x"}},
		Timers:   []storage.TimerRow{{Path: "x", Due: at(5)}},
		Tokens:   []storage.Token{{ID: "t", Path: "x"}},
		Taken:    []int64{1},
		Outbox:   []storage.Outgoing{{ID: "o", Target: "bus"}},
		Children: []storage.Run{run("child")},
		Letters:  []storage.Letter{{Run: "to", Kind: "signal"}},
	}
	before := load(t, s, "a")
	for name, spoil := range map[string]func(*storage.Checkpoint){
		"a child that exists": func(cp *storage.Checkpoint) { cp.Children = append(cp.Children, run("taken")) },
		"a job's void claim": func(cp *storage.Checkpoint) {
			cp.Job = &storage.JobEnd{Job: "j", Epoch: 1, ClaimID: "not claimed", State: states.JobComplete}
		},
	} {
		cp := full
		spoil(&cp)
		err := p.commit(t.Context(), p.next(cp))
		if !errors.Is(err, storage.ErrExists) && !errors.Is(err, storage.ErrFenced) {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, name+": run", before, load(t, s, "a"))
		atoms := ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a"))
		history := ask[[]storage.Entry](t, "History")(s.History(t.Context(), "a", 0, 0))
		undos := ask[[]storage.Undo](t, "Undos")(s.Undos(t.Context(), "a", 0))
		timers := ask[[]storage.TimerRow](t, "RunTimers")(s.RunTimers(t.Context(), "a"))
		out := ask[[]storage.Outgoing](t, "Outgoing")(s.Outgoing(t.Context(), at(9), 0))
		if n := len(atoms) + len(history) + len(undos) + len(timers) + len(out); n != 0 {
			t.Errorf("%s: %d rows were written", name, n)
		}
		want(t, name+": token", errOf(s.Token(t.Context(), "t")), storage.ErrNotFound)
		want(t, name+": child", errOf(s.Run(t.Context(), "child")), storage.ErrNotFound)
		if bell, letters, err := s.Bell(t.Context(), "a"); err != nil || bell != 1 || len(letters) != 1 {
			t.Errorf("%s: the letter is gone: bell %d, %d letters, %v", name, bell, len(letters), err)
		}
		if bell, _, err := s.Bell(t.Context(), "to"); err != nil || bell != 0 {
			t.Errorf("%s: a letter went out: bell %d, %v", name, bell, err)
		}
	}
	p.write(t, full)
	if got := ids(t, s, storage.RunQuery{}); got != "childtotakena" {
		t.Errorf("runs: %q", got)
	}
}

func testCommitAgain(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	cp := p.next(storage.Checkpoint{
		Head:    storage.Head{State: states.FlowRunning},
		History: []storage.Entry{{Path: "x", Time: at(1)}},
		Outbox:  []storage.Outgoing{{ID: "o", Target: "bus"}},
	})
	must(t, "Commit", s.Commit(t.Context(), p.claim, cp))
	must(t, "Commit again", s.Commit(t.Context(), p.claim, cp))
	if got := load(t, s, "a"); got.Seq != 1 || got.Entries != 1 {
		t.Fatalf("committed twice: %+v", got)
	}
	if out := ask[[]storage.Outgoing](t, "Outgoing")(s.Outgoing(t.Context(), at(9), 0)); len(out) != 1 {
		t.Fatalf("%d things to send, want 1", len(out))
	}
	// A commit that lets go is recognised, too, until someone takes over.
	q := &pen{store: s, claim: p.claim, head: storage.Head{Seq: 1, Entries: 1, Time: at(2)}}
	last := q.next(storage.Checkpoint{Head: storage.Head{State: states.FlowSuccess, Release: true}})
	must(t, "Commit and release", s.Commit(t.Context(), p.claim, last))
	must(t, "Commit and release again", s.Commit(t.Context(), p.claim, last))
	r := begin(t, s, "a")
	want(t, "Commit after takeover", s.Commit(t.Context(), p.claim, last), storage.ErrFenced)
	if got := load(t, s, "a"); got.Seq != 2 || got.ClaimID != r.claim.ID {
		t.Fatalf("run is %+v", got)
	}
}

func testCommitRelease(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	p.write(t, storage.Checkpoint{Head: storage.Head{State: states.FlowRunning, Release: true, Due: at(50)}})
	got := load(t, s, "a")
	if got.Owner != "" || !got.Due.Equal(at(50)) {
		t.Fatalf("after release the owner is %q, due %v", got.Owner, got.Due)
	}
	want(t, "Commit after release", p.commit(t.Context(), p.next(storage.Checkpoint{})), storage.ErrFenced)

	p = begin(t, s, "a")
	if !p.snap.Run.Due.IsZero() {
		t.Errorf("an owned run is due at %v", p.snap.Run.Due)
	}
	must(t, "Send", s.Send(t.Context(), storage.Letter{Run: "a", Kind: "signal"}))
	before := time.Now().Add(-time.Second)
	p.write(t, storage.Checkpoint{Head: storage.Head{State: states.FlowRunning, Release: true, Due: at(50), Bell: 0}})
	if got := load(t, s, "a").Due; got.Before(before) {
		t.Errorf("the bell was rung before the release, but the run is due at %v", got)
	}
	p = begin(t, s, "a")
	p.write(t, storage.Checkpoint{Head: storage.Head{State: states.FlowRunning, Release: true, Bell: p.snap.Run.Bell}})
	if got := load(t, s, "a").Due; !got.IsZero() {
		t.Errorf("the letter was seen, but the run is due at %v", got)
	}
}

func testCommitInvalid(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	p.write(t, storage.Checkpoint{
		Payloads: []storage.Payload{{Data: large("p")}},
		History:  []storage.Entry{{Path: "x"}, {Kind: storage.EntryEvent, Type: "E"}},
		Push:     []storage.Undo{{Path: "x"}},
	})
	before := load(t, s, "a")
	for name, spoil := range map[string]func(*storage.Checkpoint){
		"a gap within the history":   func(cp *storage.Checkpoint) { cp.History[1].Seq++; cp.Head.Entries++ },
		"a gap before the history":   func(cp *storage.Checkpoint) { cp.History[0].Seq++; cp.History[1].Seq++; cp.Head.Entries++ },
		"history from the past":      func(cp *storage.Checkpoint) { cp.History[0].Seq--; cp.History[1].Seq--; cp.Head.Entries-- },
		"entries that are not there": func(cp *storage.Checkpoint) { cp.History = nil },
		"a gap in the events":        func(cp *storage.Checkpoint) { cp.History[1].Number++; cp.Head.Events++ },
		"events that are not there":  func(cp *storage.Checkpoint) { cp.Head.Events++ },
		"a gap in the payloads":      func(cp *storage.Checkpoint) { cp.Payloads[0].Ref++; cp.Head.Refs++ },
		"payloads not counted":       func(cp *storage.Checkpoint) { cp.Head.Refs-- },
		"no such payload in an atom": func(cp *storage.Checkpoint) { cp.Atoms[0].Result.Ref = 3 },
		"no such payload in a line":  func(cp *storage.Checkpoint) { cp.History[0].Body.Ref = 3 },
		"no such payload put out":    func(cp *storage.Checkpoint) { cp.Head.Output.Ref = 3 },
		"a gap in the undo stack":    func(cp *storage.Checkpoint) { cp.Push[0].N++ },
		"too much popped":            func(cp *storage.Checkpoint) { cp.Pop = 2; cp.Push = nil },
		"negative pop":               func(cp *storage.Checkpoint) { cp.Pop = -1 },
		"a child without an id":      func(cp *storage.Checkpoint) { cp.Children = []storage.Run{{}} },
		"an endless key": func(cp *storage.Checkpoint) {
			cp.Letters = []storage.Letter{{Run: "a", Key: strings.Repeat("k", storage.MaxID+1)}}
		},
	} {
		cp := p.next(storage.Checkpoint{
			Atoms:    []storage.Atom{{Path: "y"}},
			Payloads: []storage.Payload{{Data: large("q")}},
			History:  []storage.Entry{{Path: "y"}, {Kind: storage.EntryEvent, Type: "E"}},
			Push:     []storage.Undo{{Path: "y"}},
		})
		spoil(cp)
		want(t, name, s.Commit(t.Context(), p.claim, cp), storage.ErrInvalid)
		same(t, name, before, load(t, s, "a"))
	}
}

func testRelease(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	must(t, "Send", s.Send(t.Context(), storage.Letter{Run: "a", Kind: "signal"}))
	want(t, "Release at an old bell", s.Release(t.Context(), p.claim, 0, at(9)), storage.ErrRung)
	if got := load(t, s, "a"); got.Owner != s.Owner().ID {
		t.Fatalf("a refused release changed the owner to %q", got.Owner)
	}
	p.write(t, storage.Checkpoint{Taken: []int64{1}})
	must(t, "Release", s.Release(t.Context(), p.claim, 1, at(9)))
	got := load(t, s, "a")
	if got.Owner != "" || !got.Due.Equal(at(9)) || got.Seq != 1 {
		t.Fatalf("released run is %+v", got)
	}
	want(t, "Release twice", s.Release(t.Context(), p.claim, 1, at(9)), storage.ErrFenced)
	want(t, "Commit after release", p.commit(t.Context(), p.next(storage.Checkpoint{})), storage.ErrFenced)
}

func testStep(t *testing.T, m Maker) {
	s := m.open(t)
	r := run("a")
	r.Due = at(5)
	create(t, s, r)
	must(t, "Send", s.Send(t.Context(), storage.Letter{Run: "a", Kind: "signal", Name: "go", Sent: at(0)}))
	boom := errors.New("boom")
	for _, c := range []struct {
		name string
		step func(*storage.Snapshot) (*storage.Checkpoint, error)
		err  error
	}{
		{"an error", func(*storage.Snapshot) (*storage.Checkpoint, error) { return nil, boom }, boom},
		{"a gap", func(s *storage.Snapshot) (*storage.Checkpoint, error) {
			cp := &storage.Checkpoint{Head: headOf(&s.Run)}
			cp.Head.Entries++
			return cp, nil
		}, storage.ErrInvalid},
		{"another commit's number", func(s *storage.Snapshot) (*storage.Checkpoint, error) {
			cp := &storage.Checkpoint{Head: headOf(&s.Run)}
			cp.Head.Seq++
			return cp, nil
		}, storage.ErrInvalid},
	} {
		before := load(t, s, "a")
		want(t, c.name, s.Step(t.Context(), "a", c.step), c.err)
		same(t, c.name, before, load(t, s, "a"))
	}
	must(t, "Step", s.Step(t.Context(), "a", func(snap *storage.Snapshot) (*storage.Checkpoint, error) {
		if len(snap.Letters) != 1 || snap.Letters[0].Name != "go" || snap.Run.Fence != 1 {
			t.Errorf("the step got %+v", snap)
		}
		cp := storage.Checkpoint{
			Head:  storage.Head{State: states.FlowRunning, Due: at(77)},
			Atoms: []storage.Atom{{Path: "x", Live: true}}, History: []storage.Entry{{Path: "x"}}, Taken: []int64{1},
		}
		number(&cp, headOf(&snap.Run), snap.Run.Undos)
		return &cp, nil
	}))
	got := load(t, s, "a")
	same(t, "run", storage.Run{
		ID: "a", Flow: "trip", State: states.FlowRunning, Created: at(0), Updated: at(1), Seq: 1, Entries: 1,
		Fence: 1, Bell: 1, Due: at(77),
	}, got, cmpopts.IgnoreFields(storage.Run{}, "ClaimID"))

	must(t, "Step that does nothing", s.Step(t.Context(), "a", func(*storage.Snapshot) (*storage.Checkpoint, error) {
		return nil, nil
	}))
	got.Fence = 2
	same(t, "run", got, load(t, s, "a"), cmpopts.IgnoreFields(storage.Run{}, "ClaimID"))

	p := begin(t, s, "a")
	err := s.Step(t.Context(), "a", func(*storage.Snapshot) (*storage.Checkpoint, error) { return nil, boom })
	var owned *storage.OwnedError
	if !errors.As(err, &owned) {
		t.Fatalf("Step of an owned run: %v", err)
	}
	must(t, "Release", s.Release(t.Context(), p.claim, 1, time.Time{}))
	must(t, "Step", s.Step(t.Context(), "a", func(*storage.Snapshot) (*storage.Checkpoint, error) { return nil, nil }))
	want(t, "Commit under a claim from before a step", p.commit(t.Context(), p.next(storage.Checkpoint{})), storage.ErrFenced)
	want(t, "Step of no run", s.Step(t.Context(), "zz", nil), storage.ErrNotFound)
}
