package storagetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// newRun returns a pen that creates a run with its first checkpoint, on conditions.
func newRun(t tester, s backend.Store, r storage.Run, checks ...storage.RecordCheck) *pen {
	t.Helper()
	claim, snap, err := backend.ClaimNew(r, checks...)
	must(t, "ClaimNew", err)
	return &pen{store: s, claim: claim, snap: snap, head: headOf(&snap.Run)}
}

// testNew creates runs with their first checkpoints. The result equals that of creating, starting and writing them one
// by one.
//
// Guarantee (G1): A run exists with its first checkpoint or not at all. One of several creators succeeds.
// Also: `TestStore/NewIsAtomic`, `TestStore/RaceNew`, `engine: TestBegunTwice`.
func testNew(t *testing.T, m Maker) {
	s := m.open(t)
	other := m.join(t, s)
	r := storage.Run{
		ID: "a", Flow: "trip", Definition: "d1", Structure: "s1", Parent: "tour", Trace: "00-abc-01",
		Labels: map[string]string{"customer": "ann"}, Input: storage.Held{Data: large("in")}, Attrs: value("strict"),
		Memory:  value("m"),
		Secrets: storage.Secrets{Symbols: []string{"pin"}}, Created: at(0).Add(1234 * time.Nanosecond), Due: at(9), Fence: 7,
		Seq: 7, Wakeups: 7,
	}
	p, late := newRun(t, s, r), newRun(t, other, r)
	want(t, "it was made by a claim alone", errOf(s.Run(t.Context(), "a")), storage.ErrNotFound)
	first := p.next(backend.Checkpoint{
		Head:  backend.Head{State: states.FlowRunning, Started: at(1), Output: inline("o")},
		Atoms: []storage.Atom{{Path: "x", Live: true}}, Labels: map[string]string{"size": "xl"},
		Payloads: []backend.Payload{{Data: large("p")}},
		History:  []storage.Entry{{Path: "x", Time: at(1)}}, Push: []storage.Undo{{Path: "x"}, {Path: "y"}},
		Children: []storage.Run{run("child")},
		Timers:   []storage.TimerRow{{Path: "x", Due: at(5)}}, Tokens: []storage.Token{{ID: "t", Run: "a", Path: "x"}},
	})
	must(t, "Commit", p.commit(t.Context(), first))
	expect := p.snap.Run
	expect.Seq, expect.State, expect.Started, expect.Updated, expect.Output = 1, states.FlowRunning, at(1), at(1),
		inline("o")
	expect.Labels = map[string]string{"customer": "ann", "size": "xl"}
	expect.Entries, expect.Refs, expect.Undos = 1, 2, 2
	expect.Fence, expect.ClaimID, expect.Owner = 1, p.claim.ID, s.Owner().ID
	same(t, "run", expect, load(t, s, "a"))

	must(t, "the same again", s.Commit(t.Context(), p.claim, first))
	want(t, "another that makes it", late.commit(t.Context(), late.next(backend.Checkpoint{})), storage.ErrExists)
	want(t, "another that makes it, from the same store", newRun(t, s, r).commit(t.Context(), first), storage.ErrExists)
	same(t, "run", expect, load(t, other, "a"))
	p.write(t, backend.Checkpoint{Atoms: []storage.Atom{{Path: "y", Live: true}}, Pop: 1})
	want(t, "the first once more", s.Commit(t.Context(), p.claim, first), storage.ErrExists)
	if _, _, err := other.Begin(t.Context(), "a"); !errors.As(err, new(*storage.OwnedError)) {
		t.Errorf("Begin by another store: %v", err)
	}
	must(t, "Close", s.Close())
	q := begin(t, other, "a")
	if got := q.snap; len(got.Atoms) != 2 || len(got.Timers) != 1 || len(got.Tokens) != 1 || got.Run.Undos != 1 ||
		got.Run.Fence != 2 {
		t.Errorf("loaded %+v", got)
	}

	w := newRun(t, other, run("waits"))
	w.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowRunning, Release: true, Due: at(7)}})
	if got := load(t, other, "waits"); got.Owner != "" || !got.Due.Equal(at(7)) || got.Fence != 1 || got.Seq != 1 {
		t.Errorf("made and released: %+v", got)
	}
	want(t, "a second commit after the release", w.commit(t.Context(), w.next(backend.Checkpoint{})), storage.ErrFenced)
	begin(t, other, "waits").finish(t, states.FlowSuccess)
	_, _, err := backend.ClaimNew(storage.Run{})
	want(t, "ClaimNew without an id", err, storage.ErrInvalid)
}

// testNewIsAtomic makes first checkpoints fail. Nothing is created.
func testNewIsAtomic(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("there"))
	post(t, s, storage.Job{ID: "j", Run: "a", Created: at(0)})
	a := run("a")
	a.Job = "j"
	for what, c := range map[string]struct {
		cp  backend.Checkpoint
		err error
	}{
		"a child that is there":     {backend.Checkpoint{Children: []storage.Run{run("b"), run("there")}}, storage.ErrExists},
		"itself as its child":       {backend.Checkpoint{Children: []storage.Run{run("a")}}, storage.ErrExists},
		"more undone than was done": {backend.Checkpoint{Pop: 1}, storage.ErrInvalid},
		"another's job": {
			backend.Checkpoint{Job: &backend.JobEnd{Job: "k", State: states.JobComplete}},
			storage.ErrNotFound,
		},
	} {
		before := job(t, s)
		p := newRun(t, s, a)
		c.cp.Atoms = []storage.Atom{{Path: "x"}}
		want(t, what, p.commit(t.Context(), p.next(c.cp)), c.err)
		for _, id := range []string{"a", "b"} {
			want(t, "after "+what, errOf(s.Run(t.Context(), id)), storage.ErrNotFound)
		}
		same(t, "the job after "+what, before, job(t, s))
	}
	p := newRun(t, s, a)
	p.write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}})
}

// testNewOfJob creates the run of a job with a first checkpoint, which may also be the last one.
func testNewOfJob(t *testing.T, m Maker) {
	s := m.open(t)
	post(t, s, storage.Job{ID: "j", Run: "a", Created: at(0)})
	r := run("b")
	r.Job = "j"
	other := newRun(t, s, r)
	want(t, "a run that the job does not want", other.commit(t.Context(), other.next(backend.Checkpoint{})),
		storage.ErrFenced)
	want(t, "after that", errOf(s.Run(t.Context(), "b")), storage.ErrNotFound)
	r.ID = "a"
	newRun(t, s, r).write(t, backend.Checkpoint{
		Head: backend.Head{State: states.FlowSuccess, Release: true},
		Job:  &backend.JobEnd{Job: "j", State: states.JobComplete},
	})
	if got := job(t, s); got.State != states.JobComplete || load(t, s, "a").Job != "j" {
		t.Errorf("job is %+v", got)
	}
	late := newRun(t, s, r)
	want(t, "a run that is there", late.commit(t.Context(), late.next(backend.Checkpoint{})), storage.ErrExists)
}

// testNewLimited lets runs start as far as there are places. A run without a place is only created.
func testNewLimited(t *testing.T, m Maker) {
	s := m.open(t)
	setLimits(t, s, storage.Limit{Flow: "trip", Runs: 1})
	running := backend.Checkpoint{
		Head:  backend.Head{State: states.FlowRunning},
		Atoms: []storage.Atom{{Path: "x", Live: true}},
	}
	waiting := backend.Checkpoint{Head: backend.Head{State: states.FlowRunning, Release: true, Due: at(7)}}
	first, second := newRun(t, s, run("a")), newRun(t, s, run("b"))
	made := first.next(running)
	must(t, "Commit", first.commit(t.Context(), made))
	must(t, "the same again, which has the place", s.Commit(t.Context(), first.claim, made))
	for range 2 { // it exists the second time
		err := second.commit(t.Context(), second.next(running))
		if !errors.Is(err, storage.ErrLimited) && !errors.Is(err, storage.ErrExists) {
			t.Fatalf("a run begins without a place: %v", err)
		}
		expect := run("b")
		expect.Updated = at(0)
		same(t, "run", expect, load(t, s, "b"))
	}
	if _, _, err := s.Begin(t.Context(), "b"); !errors.Is(err, storage.ErrLimited) {
		t.Errorf("Begin without a place: %v", err)
	}
	newRun(t, s, run("waits")).write(t, waiting)
	later := run("later")
	later.Due = at(5)
	third := newRun(t, s, later)
	want(t, "a run that is due if there is no place", third.commit(t.Context(), third.next(running)), storage.ErrLimited)
	if got := load(t, s, "later"); !got.Due.Equal(at(5)) {
		t.Errorf("it is due at %v, want %v", got.Due, at(5))
	}
	must(t, "Step", s.Step(t.Context(), "later", func(*backend.Snapshot) (*backend.Checkpoint, error) {
		return &backend.Checkpoint{Head: backend.Head{State: states.FlowSuccess, Time: at(0)}}, nil
	}))
	must(t, "Release", s.Release(t.Context(), first.claim, 0, time.Time{}))
	begin(t, s, "b").finish(t, states.FlowSuccess)
	newRun(t, s, run("c")).write(t, running)
	if got, _, _ := dueOf(t, s, backend.DueQuery{By: at(9)}); got != "" {
		t.Errorf("%q is due, and has no place", got)
	}
}

// testRaceNew lets many goroutines create one run. One succeeds, with its own checkpoint.
func testRaceNew(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s), m.join(t, s)}
	for round := range rounds() {
		id := fmt.Sprint("run", round)
		var got atomic.Int64
		var made atomic.Pointer[string]
		race(6, func(i int) {
			p := newRun(t, stores[i%3], run(id))
			cp := p.next(backend.Checkpoint{Atoms: []storage.Atom{{Path: p.claim.ID, Live: true}}})
			switch err := p.commit(t.Context(), cp); {
			case err == nil:
				got.Add(1)
				made.Store(&p.claim.ID)
			case !errors.Is(err, storage.ErrExists):
				t.Errorf("Commit: %v", err)
			}
		})
		if got.Load() != 1 {
			t.Fatalf("it was made %d times", got.Load())
		}
		atoms := ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), id, storage.AtomQuery{}))
		if run := load(t, s, id); run.ClaimID != *made.Load() || run.Seq != 1 || len(atoms) != 1 ||
			atoms[0].Path != run.ClaimID {
			t.Fatalf("the run is %+v, with %+v", run, atoms)
		}
	}
}
