package storagetest

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// mourners are a store and processes that die beside it.
type mourners struct {
	m Maker
	s backend.Store
}

// die lets another process try some runs, drive others, and die.
func (w mourners) die(t *testing.T, tries, drives []string, before ...func(backend.Store, backend.Claim)) {
	t.Helper()
	other := w.m.join(t, w.s)
	for _, id := range tries {
		claim, _, err := other.BeginIsolated(t.Context(), id)
		must(t, "BeginIsolated", err)
		for _, f := range before {
			f(other, claim)
		}
	}
	for _, id := range drives {
		begin(t, other, id)
	}
	deaths := w.s.Deaths()
	w.m.Die(t, other)
	for until := time.Now().Add(time.Minute); w.s.Deaths() == deaths; {
		if time.Now().After(until) {
			t.Fatal("the death is not noticed")
		}
		_, _, err := w.s.Due(t.Context(), backend.DueQuery{By: time.Now().Add(-time.Hour)})
		must(t, "Due", err)
	}
}

// expect compares how often a run was lost, the proof against it, and its isolation.
func (w mourners) expect(t *testing.T, id string, lost, proof int64, isolation storage.Isolation) {
	t.Helper()
	got := load(t, w.s, id)
	if s := got.CrashLoop; got.Lost != lost || s.Proof != proof || s.Isolation != isolation {
		t.Errorf("%s was lost %d times, proof %d, isolation %d; want %d, %d, %d", id,
			got.Lost, s.Proof, s.Isolation, lost, proof, isolation)
	}
}

// testCrashLoops: the death of a process is counted in the isolated runs, or if there is none,
// in all that it drove.
//
// Guarantee (Jobs): A process that stops, or was wrongly taken for dead, does not count against its runs.
// Also: `TestTakenForDead`.
func testCrashLoops(t *testing.T, m Maker) {
	if m.Die == nil {
		t.Skip("no process of this store can die")
	}
	s := m.open(t)
	w := mourners{m, s}
	for _, id := range []string{"a", "b", "c", "d"} {
		create(t, s, storage.Run{ID: id, Flow: "f", Created: at(0), Due: at(0)})
	}
	all := []string{"a", "b", "c"}
	began := time.Now().Add(-time.Second)
	w.die(t, nil, all)
	w.expect(t, "a", 1, 0, 0)
	w.die(t, nil, all)
	w.expect(t, "a", 2, 0, 0)
	w.expect(t, "c", 2, 0, 0)
	if by := load(t, s, "a").CrashLoop; by.Died.Before(began) || by.By.PID == 0 || by.By.Owner == "" {
		t.Errorf("died as %+v says", by)
	}
	w.die(t, []string{"a"}, []string{"b", "c"})
	w.expect(t, "a", 3, backend.ProofBeside, storage.Blamed)
	w.expect(t, "b", 2, 0, 0)
	w.die(t, []string{"a"}, nil)
	w.expect(t, "a", 4, backend.ProofBeside+backend.ProofAlone, storage.Blamed)
	w.die(t, []string{"a", "b"}, []string{"c"})
	w.expect(t, "a", 5, backend.ProofBeside+backend.ProofAlone, storage.Blamed)
	w.expect(t, "b", 3, 0, storage.Blamed)
	w.expect(t, "c", 2, 0, 0)

	now := time.Now().Add(time.Minute)
	ids := func(q backend.DueQuery) (ids []string) {
		due, _, err := s.Due(t.Context(), q)
		must(t, "Due", err)
		for i := range due {
			ids = append(ids, due[i].Run)
		}
		return ids
	}
	same(t, "crash loops", []string{"a", "b", "c"}, ids(backend.DueQuery{By: now, CrashLoops: true}))
	same(t, "some crash loops", []string{"b"},
		ids(backend.DueQuery{By: now, CrashLoops: true, Except: []string{"a"}, Limit: 1}))
	same(t, "others", []string{"d"}, ids(backend.DueQuery{By: now}))
	only, _, err := s.Due(t.Context(), backend.DueQuery{By: now, RunsOnly: true})
	if err != nil || len(only) != 1 || only[0].Snapshot.Run.ID != "d" || only[0].Claim.ID != "" ||
		len(only[0].Snapshot.Atoms) != 0 {
		t.Errorf("found %+v (%v), want the run only", only, err)
	}
	if due, _, err := s.Due(t.Context(), backend.DueQuery{By: now, CrashLoops: true, Limit: 1}); err != nil ||
		due[0].Snapshot.Run.Lost != 5 {
		t.Errorf("found %+v (%v)", due, err)
	}

	w.die(t, []string{"a"}, nil, func(s backend.Store, claim backend.Claim) {
		must(t, "EndIsolation", s.EndIsolation(t.Context(), claim))
		claim.ID = "another"
		want(t, "EndIsolation under a void claim", s.EndIsolation(t.Context(), claim), storage.ErrFenced)
	})
	w.expect(t, "a", 6, 0, 0)
	w.die(t, []string{"b"}, nil, func(s backend.Store, claim backend.Claim) {
		must(t, "Release", s.Release(t.Context(), claim, 0, at(0)))
		w.expect(t, "b", 3, 0, storage.Blamed)
		_, _, err := s.BeginIsolated(t.Context(), "b")
		must(t, "BeginIsolated", err)
	})
	w.expect(t, "b", 4, backend.ProofAlone, storage.Blamed)
	w.die(t, nil, []string{"d"}) // b was not driven
	w.expect(t, "b", 4, 0, storage.Blamed)

	other := m.join(t, s)
	if _, _, err := other.BeginIsolated(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "b", 4, 0, storage.Blamed|storage.Isolated)
	must(t, "Close", other.Close())
	w.expect(t, "b", 4, 0, storage.Blamed)
	p := begin(t, s, "b")
	p.write(t, backend.Checkpoint{Head: backend.Head{Absolve: true}})
	w.expect(t, "b", 0, 0, 0)
}
