package storagetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func testCommit(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	p.write(t, backend.Checkpoint{Head: backend.Head{
		State: states.FlowRunning, Memory: value("frontier"), Started: at(2), Time: at(2),
	}})
	p.write(t, backend.Checkpoint{
		Head: backend.Head{
			State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndonePart, Hold: true,
			Output: inline(1), Failure: &atom.Failure{Atom: "x", Code: "C", Message: "m", Attempt: 2},
			Started: at(2), Ended: at(3), Time: at(3), Growth: storage.Growth{Iterations: 1 << 40, Waited: 7, Bytes: 1 << 50},
		},
		Messages: []storage.Message{{Run: "zz", Kind: "cancel"}}, // to a run that does not exist
	})
	same(t, "run", storage.Run{
		ID: "a", Flow: "trip", State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndonePart,
		Hold:   true,
		Output: inline(1), Failure: &atom.Failure{Atom: "x", Code: "C", Message: "m", Attempt: 2},
		Created: at(0), Started: at(2), Updated: at(3), Ended: at(3), Seq: 2, Memory: value("frontier"),
		Growth: storage.Growth{Iterations: 1 << 40, Waited: 7, Bytes: 1 << 50},
		Fence:  1, ClaimID: p.claim.ID, Owner: s.Owner().ID,
	}, load(t, s, "a"))

	wrong := p.claim
	wrong.ID = "someone else's"
	want(t, "Commit under another id", s.Commit(t.Context(), wrong, p.next(backend.Checkpoint{})), storage.ErrFenced)
	wrong = p.claim
	wrong.Fence++
	want(t, "Commit under another fence", s.Commit(t.Context(), wrong, p.next(backend.Checkpoint{})), storage.ErrFenced)
	ahead := p.next(backend.Checkpoint{})
	ahead.Head.Seq++
	want(t, "Commit out of order", s.Commit(t.Context(), p.claim, ahead), storage.ErrFenced)
	wrong = p.claim
	wrong.Run = "zz"
	want(t, "Commit to no run", s.Commit(t.Context(), wrong, p.next(backend.Checkpoint{})), storage.ErrNotFound)
}

// testCommitIsAtomic commits checkpoints with records of all kinds. The store refuses them because of what it checks
// last.
//
// Guarantee (G1): A refused checkpoint leaves nothing behind.
func testCommitIsAtomic(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"), run("taken"), run("to"))
	must(t, "PostJob", s.PostJob(t.Context(), storage.Job{ID: "j", Run: "a", Created: at(0)}))
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal", Sent: at(0)}))
	p := begin(t, s, "a")
	full := backend.Checkpoint{
		Head:     backend.Head{State: states.FlowRunning, Memory: value(1)},
		Atoms:    []storage.Atom{{Path: "x", Live: true}},
		Payloads: []backend.Payload{{Data: large("p")}},
		History:  []storage.Entry{{Path: "x", Time: at(1)}},
		Push:     []storage.Undo{{Path: "x"}},
		Timers:   []storage.TimerRow{{Path: "x", Due: at(5)}},
		Tokens:   []storage.Token{{ID: "t", Path: "x"}},
		Taken:    []int64{1},
		Outbox:   []storage.Outgoing{{ID: "o", Target: "bus"}},
		Children: []storage.Run{run("child")},
		Messages: []storage.Message{{Run: "to", Kind: "signal"}},
	}
	before := load(t, s, "a")
	for name, spoil := range map[string]func(*backend.Checkpoint){
		"a child that exists": func(cp *backend.Checkpoint) { cp.Children = append(cp.Children, run("taken")) },
		"a job's void claim": func(cp *backend.Checkpoint) {
			cp.Job = &backend.JobEnd{Job: "j", Epoch: 1, ClaimID: "not claimed", State: states.JobComplete}
		},
	} {
		cp := full
		spoil(&cp)
		err := p.commit(t.Context(), p.next(cp))
		if !errors.Is(err, storage.ErrExists) && !errors.Is(err, storage.ErrFenced) {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, name+": run", before, load(t, s, "a"))
		atoms := ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a", storage.AtomQuery{}))
		history := ask[[]storage.Entry](t, "History")(s.History(t.Context(), "a", 0, 0))
		undos := ask[[]storage.Undo](t, "Undos")(s.Undos(t.Context(), "a", 0, 0))
		timers := ask[[]storage.TimerRow](t, "RunTimers")(s.RunTimers(t.Context(), "a"))
		out := ask[[]storage.Outgoing](t, "Outgoing")(s.Outgoing(t.Context(), at(9), 0))
		if n := len(atoms) + len(history) + len(undos) + len(timers) + len(out); n != 0 {
			t.Errorf("%s: %d rows were written", name, n)
		}
		want(t, name+": token", errOf(s.Token(t.Context(), "t")), storage.ErrNotFound)
		want(t, name+": child", errOf(s.Run(t.Context(), "child")), storage.ErrNotFound)
		if wakeups, messages, err := s.Messages(t.Context(), "a", 0); err != nil || wakeups != 1 || len(messages) != 1 {
			t.Errorf("%s: the message is gone: wakeup counter %d, %d messages, %v", name, wakeups, len(messages), err)
		}
		if wakeups, _, err := s.Messages(t.Context(), "to", 0); err != nil || wakeups != 0 {
			t.Errorf("%s: a message went out: wakeup counter %d, %v", name, wakeups, err)
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
	cp := p.next(backend.Checkpoint{
		Head:    backend.Head{State: states.FlowRunning},
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
	// A commit that releases the run is recognized, too, until another owner takes the run over.
	q := &pen{store: s, claim: p.claim, head: backend.Head{Seq: 1, Entries: 1, Time: at(2)}}
	last := q.next(backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess, Release: true}})
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
	p.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowRunning, Release: true, Due: at(50)}})
	got := load(t, s, "a")
	if got.Owner != "" || !got.Due.Equal(at(50)) {
		t.Fatalf("after release the owner is %q, due %v", got.Owner, got.Due)
	}
	want(t, "Commit after release", p.commit(t.Context(), p.next(backend.Checkpoint{})), storage.ErrFenced)

	p = begin(t, s, "a")
	if !p.snap.Run.Due.IsZero() {
		t.Errorf("an owned run is due at %v", p.snap.Run.Due)
	}
	must(t, "Send", s.Send(t.Context(), storage.Message{Run: "a", Kind: "signal"}))
	before := time.Now().Add(-time.Second)
	p.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowRunning, Release: true, Due: at(50), Wakeups: 0}})
	if got := load(t, s, "a").Due; got.Before(before) {
		t.Errorf("the wakeup counter rose before the release, but the run is due at %v", got)
	}
	p = begin(t, s, "a")
	p.write(t,
		backend.Checkpoint{Head: backend.Head{State: states.FlowRunning, Release: true, Wakeups: p.snap.Run.Wakeups}})
	if got := load(t, s, "a").Due; !got.IsZero() {
		t.Errorf("the message was seen, but the run is due at %v", got)
	}

	// The first commit of a claim may release the run, too.
	for _, unread := range []int64{1, 0} {
		claim, snap, err := s.Load(t.Context(), "a")
		must(t, "Load", err)
		p := &pen{store: s, claim: claim, snap: snap, head: headOf(&snap.Run)}
		p.write(t, backend.Checkpoint{
			Head: backend.Head{State: states.FlowRunning, Release: true, Wakeups: snap.Run.Wakeups - unread},
		})
		if got := load(t, s, "a").Due; got.IsZero() != (unread == 0) {
			t.Errorf("the first commit left %d messages unread, and the run is due at %v", unread, got)
		}
	}
}

func testCommitInvalid(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	p.write(t, backend.Checkpoint{
		Payloads: []backend.Payload{{Data: large("p")}},
		History:  []storage.Entry{{Path: "x"}, {Kind: storage.EntryEvent, Type: "E"}},
		Push:     []storage.Undo{{Path: "x"}},
	})
	before := load(t, s, "a")
	for name, spoil := range map[string]func(*backend.Checkpoint){
		"a gap within the history": func(cp *backend.Checkpoint) { cp.History[1].Seq++; cp.Head.Entries++ },
		"a gap before the history": func(
			cp *backend.Checkpoint,
		) {
			cp.History[0].Seq++
			cp.History[1].Seq++
			cp.Head.Entries++
		},
		"history from the past": func(
			cp *backend.Checkpoint,
		) {
			cp.History[0].Seq--
			cp.History[1].Seq--
			cp.Head.Entries--
		},
		"entries that are not there": func(cp *backend.Checkpoint) { cp.History = nil },
		"a gap in the events":        func(cp *backend.Checkpoint) { cp.History[1].Number++; cp.Head.Events++ },
		"events that are not there":  func(cp *backend.Checkpoint) { cp.Head.Events++ },
		"a gap in the payloads":      func(cp *backend.Checkpoint) { cp.Payloads[0].Ref++; cp.Head.Refs++ },
		"payloads not counted":       func(cp *backend.Checkpoint) { cp.Head.Refs-- },
		"no such payload in an atom": func(cp *backend.Checkpoint) { cp.Atoms[0].Result.Ref = 3 },
		"no such payload in a line":  func(cp *backend.Checkpoint) { cp.History[0].Body.Ref = 3 },
		"no such payload put out":    func(cp *backend.Checkpoint) { cp.Head.Output.Ref = 3 },
		"no such payload put in":     func(cp *backend.Checkpoint) { cp.Input = &storage.Held{Ref: 3} },
		"a gap in the undo stack":    func(cp *backend.Checkpoint) { cp.Push[0].N++ },
		"too much popped":            func(cp *backend.Checkpoint) { cp.Pop = 2; cp.Push = nil },
		"negative pop":               func(cp *backend.Checkpoint) { cp.Pop = -1 },
		"a child without an id":      func(cp *backend.Checkpoint) { cp.Children = []storage.Run{{}} },
		"an endless key": func(cp *backend.Checkpoint) {
			cp.Messages = []storage.Message{{Run: "a", Key: strings.Repeat("k", backend.MaxID+1)}}
		},
	} {
		cp := p.next(backend.Checkpoint{
			Atoms:    []storage.Atom{{Path: "y"}},
			Payloads: []backend.Payload{{Data: large("q")}},
			History:  []storage.Entry{{Path: "y"}, {Kind: storage.EntryEvent, Type: "E"}},
			Push:     []storage.Undo{{Path: "y"}},
		})
		spoil(cp)
		want(t, name, s.Commit(t.Context(), p.claim, cp), storage.ErrInvalid)
		same(t, name, before, load(t, s, "a"))
	}
}

// testCommitOrigin replaces the structure and the input of a run.
func testCommitOrigin(t *testing.T, m Maker) {
	s := m.open(t)
	r := run("a")
	r.Input, r.Structure = storage.Held{Data: large("in")}, "s1"
	r.Secrets = storage.Secrets{Symbols: []string{"pin"}}
	create(t, s, r)
	p := begin(t, s, "a")
	expect := func(input storage.Held, structure string) {
		t.Helper()
		for _, got := range []storage.Run{
			load(t, s, "a"),
			ask[[]storage.Run](t, "Runs")(s.Runs(t.Context(), storage.RunQuery{}))[0],
		} {
			same(t, "input", input, got.Input)
			if got.Structure != structure || len(got.Secrets.Symbols) != 1 {
				t.Fatalf("the structure is %q, want %q; secrets %v", got.Structure, structure, got.Secrets)
			}
		}
	}
	expect(storage.Held{Ref: 1, Data: large("in")}, "s1")
	p.write(t, backend.Checkpoint{Structure: "s2"})
	expect(storage.Held{Ref: 1, Data: large("in")}, "s2")
	input := inline("small")
	p.write(t, backend.Checkpoint{Input: &input})
	expect(input, "s2")
	input = storage.Held{Ref: 2, Data: large("again")}
	p.write(t, backend.Checkpoint{Input: &input, Payloads: []backend.Payload{{Data: large("again")}}, Structure: "s3"})
	expect(input, "s3")
	must(t, "Release", s.Release(t.Context(), p.claim, 0, time.Time{}))
	must(t, "Step", s.Step(t.Context(), "a", func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		same(t, "input in the snapshot", large("again"), snap.Run.Input.Data)
		none := storage.Held{}
		cp := backend.Checkpoint{Input: &none, Structure: "s4"}
		number(&cp, headOf(&snap.Run), snap.Run.Undos)
		return &cp, nil
	}))
	expect(storage.Held{}, "s4")
}

// testCommitOutcome records how a run will end before it has ended. Otherwise, the run is a live run.
func testCommitOutcome(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	head := backend.Head{State: states.FlowRunning, Outcome: storage.Cancelled, Undo: storage.UndonePart, Started: at(1)}
	p.write(t, backend.Checkpoint{Head: head})
	got := load(t, s, "a")
	if got.State != states.FlowRunning || got.Outcome != storage.Cancelled || got.Undo != storage.UndonePart ||
		!got.Ended.IsZero() {
		t.Fatalf("run is %+v", got)
	}
	must(t, "Release", s.Release(t.Context(), p.claim, 0, at(2)))
	if n := ask[int](t, "Purge")(s.Purge(t.Context(), "a")); n != 0 {
		t.Fatalf("a run that is about to end was purged")
	}
	if due := ids(t, s, storage.RunQuery{Due: at(3), States: []states.Flow{states.FlowRunning}}); due != "a" {
		t.Fatalf("due are %q", due)
	}
	p = begin(t, s, "a")
	if p.snap.Run.Outcome != storage.Cancelled || p.snap.Run.Undo != storage.UndonePart {
		t.Fatalf("taken up as %+v", p.snap.Run)
	}
	head.State, head.Undo, head.Ended, head.Release = states.FlowReverted, storage.UndoneAll, at(4), true
	p.write(t, backend.Checkpoint{Head: head})
	if n := ask[int](t, "Purge")(s.Purge(t.Context(), "a")); n != 1 {
		t.Fatalf("the ended run was not purged")
	}
}
