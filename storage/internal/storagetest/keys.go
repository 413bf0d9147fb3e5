package storagetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// good ends the test if there is an error.
func good(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// runningAt returns a checkpoint of a run that continues.
func runningAt(seq int64) *backend.Checkpoint {
	now := time.Now()
	return &backend.Checkpoint{Head: backend.Head{Seq: seq, State: states.FlowRunning, Started: now, Time: now}}
}

// lastOf returns a checkpoint that ends the run and releases it.
func lastOf(seq int64) *backend.Checkpoint {
	now := time.Now()
	return &backend.Checkpoint{Head: backend.Head{
		Seq: seq, State: states.FlowSuccess, Outcome: storage.Succeeded, Started: now, Ended: now, Time: now, Release: true,
	}}
}

// holds checks which run holds a key. "" means none.
func holds(tb testing.TB, s backend.Store, key, want string) {
	tb.Helper()
	run, err := s.OpenRun(tb.Context(), key)
	switch {
	case want == "" && errors.Is(err, storage.ErrNotFound):
	case err != nil || run != want:
		tb.Errorf("the key %q is held by %q, %v; want %q", key, run, err, want)
	}
}

// taken checks that an error says which run holds the key "k".
func taken(tb testing.TB, err error, run string) {
	tb.Helper()
	why, is := errors.AsType[*storage.KeyTakenError](err)
	if !is || !errors.Is(err, storage.ErrKeyTaken) || *why != (storage.KeyTakenError{Key: "k", Run: run}) {
		tb.Errorf("got %v, want that run %q holds the key", err, run)
	}
}

// Guarantee (Waiting and time): Over all processes, at most one open run has a key, which is free after its end, also
// after a crash.
// Also: `TestStore/KeyModel`, `TestServerStore/RaceKeys`, `engine: TestKey`, `TestFamilyCrash` (deaths).
func testKeys(t *testing.T, m Maker) {
	s := m.open(t)
	ctx := t.Context()
	good(t, s.Create(ctx, storage.Run{ID: "a", Flow: "f", Key: "k"}))
	holds(t, s, "k", "a")
	holds(t, s, "other", "")
	taken(t, s.Create(ctx, storage.Run{ID: "b", Flow: "f", Key: "k"}), "a")
	if _, err := s.Run(ctx, "b"); !errors.Is(err, storage.ErrNotFound) {
		t.Error("a run was created though its key was taken:", err)
	}
	if err := s.Create(ctx, storage.Run{ID: "a", Flow: "f", Key: "k"}); !errors.Is(err, storage.ErrExists) {
		t.Error("a second run with the same id and key:", err)
	}
	good(t, s.Create(ctx, storage.Run{ID: "none", Flow: "f"}))
	good(t, s.Create(ctx, storage.Run{ID: "neither", Flow: "f"}))

	claim, _, err := backend.ClaimNew(storage.Run{ID: "c", Flow: "f", Key: "k"})
	good(t, err)
	taken(t, s.Commit(ctx, claim, runningAt(0)), "a")

	// The end releases the key, and the same commit may give it to a child.
	claim, _, err = s.Begin(ctx, "a")
	good(t, err)
	cp := lastOf(0)
	cp.Head.Outcome = storage.Continued
	cp.Children = []storage.Run{{ID: "a~2", Flow: "f", Key: "k", Continues: "a"}}
	good(t, s.Commit(ctx, claim, cp))
	good(t, s.Commit(ctx, claim, cp)) // as after a lost answer
	holds(t, s, "k", "a~2")
	if run, err := s.Run(ctx, "a~2"); err != nil || run.Continues != "a" || run.Key != "k" {
		t.Error("the successor is", run, err)
	}
	claim, _, err = s.Begin(ctx, "a~2")
	good(t, err)
	cp = runningAt(0)
	cp.Children = []storage.Run{{ID: "d", Flow: "f", Key: "k"}}
	taken(t, s.Commit(ctx, claim, cp), "a~2")
	good(t, s.Commit(ctx, claim, lastOf(0)))
	holds(t, s, "k", "")

	// A reopened run takes its key again.
	claim, _, err = s.Begin(ctx, "a~2")
	good(t, err)
	cp = runningAt(1)
	cp.TakeKey = true
	good(t, s.Commit(ctx, claim, cp))
	holds(t, s, "k", "a~2")
	good(t, s.Commit(ctx, claim, lastOf(2)))
	good(t, s.Create(ctx, storage.Run{ID: "e", Flow: "f", Key: "k"}))
	claim, _, err = s.Begin(ctx, "a~2")
	good(t, err)
	cp = runningAt(3)
	cp.TakeKey = true
	taken(t, s.Commit(ctx, claim, cp), "e")
	cp.TakeKey = false
	good(t, s.Commit(ctx, claim, cp))
	good(t, s.Commit(ctx, claim, lastOf(4))) // it does not release the key of another run
	holds(t, s, "k", "e")

	// One commit that creates and ends a run.
	claim, _, err = backend.ClaimNew(storage.Run{ID: "short", Flow: "f", Key: "s"})
	good(t, err)
	good(t, s.Commit(ctx, claim, lastOf(0)))
	holds(t, s, "s", "")
	if stray, err := s.StrayKeys(ctx, 0); err != nil || len(stray) > 0 {
		t.Error("keys are held by runs that are not open:", stray, err)
	}
	long := storage.Run{ID: "long", Flow: "f", Key: string(make([]byte, backend.MaxID+1))}
	if err := s.Create(ctx, long); !errors.Is(err, storage.ErrInvalid) {
		t.Error("a key that is too long:", err)
	}
}

// testRaceKeys starts runs with the same keys from several processes at once. In each round, one run gets the key.
func testRaceKeys(t *testing.T, m Maker) {
	stores := []backend.Store{m.open(t)}
	for len(stores) < 3 {
		stores = append(stores, m.join(t, stores[0]))
	}
	for round := range 5 {
		key := fmt.Sprint("k", round)
		var mu sync.Mutex
		var won []string
		var group sync.WaitGroup
		for i := range 12 {
			group.Go(func() {
				s, run := stores[i%len(stores)], storage.Run{ID: fmt.Sprintf("r%d-%d", round, i), Flow: "f", Key: key}
				var err error
				if i%2 == 0 {
					err = s.Create(t.Context(), run)
				} else {
					var claim backend.Claim
					if claim, _, err = backend.ClaimNew(run); err == nil {
						cp := runningAt(0)
						cp.Head.Release = true
						err = s.Commit(t.Context(), claim, cp)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won = append(won, run.ID)
				case !errors.Is(err, storage.ErrKeyTaken):
					t.Error(err)
				}
			})
		}
		group.Wait()
		if len(won) != 1 {
			t.Fatalf("the runs %q have the key %q", won, key)
		}
		holds(t, stores[2], key, won[0])
	}
}

// A keyModel is the expected state of the keys.
type keyModel struct {
	holder map[string]string // ids of open runs, by key
	open   map[string]string // keys of open runs, by id
}

// begin notes that a run holds its key.
func (m *keyModel) begin(id, key string) { m.holder[key], m.open[id] = id, key }

// start creates a run. It succeeds only if the run's key is free.
func (m *keyModel) start(t *rapid.T, s backend.Store, id, key string) {
	err := s.Create(t.Context(), storage.Run{ID: id, Flow: "f", Key: key})
	if (err == nil) != (m.holder[key] == "") {
		t.Fatalf("start with key %q, which %q has: %v", key, m.holder[key], err)
	}
	if err == nil {
		m.begin(id, key)
	}
}

// end ends an open run. If the run has a successor, the successor holds its key next.
func (m *keyModel) end(t *rapid.T, s backend.Store, id, successor string) {
	key := m.open[id]
	claim, _, err := s.Begin(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	cp := lastOf(0)
	if successor != "" {
		cp.Children = []storage.Run{{ID: successor, Flow: "f", Key: key}}
	}
	if err := s.Commit(t.Context(), claim, cp); err != nil {
		t.Fatal(err)
	}
	delete(m.open, id)
	delete(m.holder, key)
	if successor != "" {
		m.begin(successor, key)
	}
}

// testKeyModel compares random starts, ends and successors over two processes with a map of keys.
func testKeyModel(t *testing.T, m Maker) {
	one := m.open(t)
	stores := []backend.Store{one, m.join(t, one)}
	tries := 0
	rapid.Check(t, func(rt *rapid.T) {
		tries++
		model := &keyModel{holder: map[string]string{}, open: map[string]string{}}
		for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			s := stores[rapid.IntRange(0, 1).Draw(rt, "process")]
			key := fmt.Sprintf("m%d-%s", tries, rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "key"))
			id := fmt.Sprintf("m%d-%d", tries, step)
			if len(model.open) == 0 || rapid.Bool().Draw(rt, "start") {
				model.start(rt, s, id, key)
				continue
			}
			ends := rapid.SampledFrom(slices.Sorted(maps.Keys(model.open))).Draw(rt, "run")
			if !rapid.Bool().Draw(rt, "continues") {
				id = ""
			}
			model.end(rt, s, ends, id)
		}
		for _, key := range []string{"x", "y", "z"} {
			key = fmt.Sprintf("m%d-%s", tries, key)
			run, err := stores[1].OpenRun(t.Context(), key)
			if err != nil && !errors.Is(err, storage.ErrNotFound) || run != model.holder[key] {
				rt.Fatalf("the key %q is held by %q, %v; want %q", key, run, err, model.holder[key])
			}
		}
	})
}
