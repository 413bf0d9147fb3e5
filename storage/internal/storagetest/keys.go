package storagetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// good ends a test at an error.
func good(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// headAt returns a checkpoint that changes the state of a run.
func headAt(seq int64, state states.Flow) *storage.Checkpoint {
	now := time.Now()
	return &storage.Checkpoint{Head: storage.Head{Seq: seq, State: state, Started: now, Time: now}}
}

// lastOf returns a checkpoint that ends the run and releases it.
func lastOf(seq int64) *storage.Checkpoint {
	now := time.Now()
	return &storage.Checkpoint{Head: storage.Head{
		Seq: seq, State: states.FlowSuccess, Outcome: storage.Succeeded, Started: now, Ended: now, Time: now, Release: true,
	}}
}

// holds checks which run holds a key; "" is none.
func holds(t testing.TB, s storage.Store, key, want string) {
	t.Helper()
	run, err := s.OpenRun(t.Context(), key)
	switch {
	case want == "" && errors.Is(err, storage.ErrNotFound):
	case err != nil || run.ID != want || run.Key != key:
		t.Errorf("the key %q is held by %q, %v; want %q", key, run.ID, err, want)
	}
}

// taken checks that an error says which run holds the key.
func taken(t testing.TB, err error, key, run string) {
	t.Helper()
	why, is := errors.AsType[*storage.KeyTakenError](err)
	if !is || !errors.Is(err, storage.ErrKeyTaken) || *why != (storage.KeyTakenError{Key: key, Run: run}) {
		t.Errorf("got %v, want that run %q holds the key %q", err, run, key)
	}
}

func testKeys(t *testing.T, m Maker) {
	s := m.open(t)
	ctx := t.Context()
	good(t, s.Create(ctx, storage.Run{ID: "a", Flow: "f", Key: "k"}))
	holds(t, s, "k", "a")
	holds(t, s, "other", "")
	taken(t, s.Create(ctx, storage.Run{ID: "b", Flow: "f", Key: "k"}), "k", "a")
	if _, err := s.Run(ctx, "b"); !errors.Is(err, storage.ErrNotFound) {
		t.Error("a run was created though its key was taken:", err)
	}
	if err := s.Create(ctx, storage.Run{ID: "a", Flow: "f", Key: "k"}); !errors.Is(err, storage.ErrExists) {
		t.Error("a second run with the same id and key:", err)
	}
	good(t, s.Create(ctx, storage.Run{ID: "none", Flow: "f"}))
	good(t, s.Create(ctx, storage.Run{ID: "neither", Flow: "f"}))

	claim, _, err := storage.ClaimNew(storage.Run{ID: "c", Flow: "f", Key: "k"})
	good(t, err)
	taken(t, s.Commit(ctx, claim, headAt(0, states.FlowRunning)), "k", "a")

	// The end releases the key, and the same commit may give it to a child.
	claim, _, err = s.Begin(ctx, "a")
	good(t, err)
	cp := lastOf(0)
	cp.Head.Outcome = storage.Continued
	cp.Children = []storage.Run{{ID: "a~2", Flow: "f", Key: "k", Continues: "a"}}
	good(t, s.Commit(ctx, claim, cp))
	good(t, s.Commit(ctx, claim, cp)) // as after an answer that was lost
	holds(t, s, "k", "a~2")
	if run, err := s.Run(ctx, "a~2"); err != nil || run.Continues != "a" || run.Key != "k" {
		t.Error("the successor is", run, err)
	}
	claim, _, err = s.Begin(ctx, "a~2")
	good(t, err)
	cp = headAt(0, states.FlowRunning)
	cp.Children = []storage.Run{{ID: "d", Flow: "f", Key: "k"}}
	taken(t, s.Commit(ctx, claim, cp), "k", "a~2")
	good(t, s.Commit(ctx, claim, lastOf(0)))
	holds(t, s, "k", "")

	// A run that takes its key again when it is reopened.
	claim, _, err = s.Begin(ctx, "a~2")
	good(t, err)
	cp = headAt(1, states.FlowRunning)
	cp.TakeKey = true
	good(t, s.Commit(ctx, claim, cp))
	holds(t, s, "k", "a~2")
	good(t, s.Commit(ctx, claim, lastOf(2)))
	good(t, s.Create(ctx, storage.Run{ID: "e", Flow: "f", Key: "k"}))
	claim, _, err = s.Begin(ctx, "a~2")
	good(t, err)
	cp = headAt(3, states.FlowRunning)
	cp.TakeKey = true
	taken(t, s.Commit(ctx, claim, cp), "k", "e")
	cp.TakeKey = false
	good(t, s.Commit(ctx, claim, cp))
	good(t, s.Commit(ctx, claim, lastOf(4))) // it does not release the key of another run
	holds(t, s, "k", "e")

	// One commit that creates and ends a run.
	claim, _, err = storage.ClaimNew(storage.Run{ID: "short", Flow: "f", Key: "s"})
	good(t, err)
	good(t, s.Commit(ctx, claim, lastOf(0)))
	holds(t, s, "s", "")
	if stray, err := s.StrayKeys(ctx, 0); err != nil || len(stray) > 0 {
		t.Error("keys are held by runs that are not open:", stray, err)
	}
	if err := s.Create(ctx, storage.Run{ID: "long", Flow: "f", Key: string(make([]byte, storage.MaxID+1))}); !errors.Is(err, storage.ErrInvalid) {
		t.Error("a key that is too long:", err)
	}
}

// testRaceKeys starts runs with the same keys from several processes at once: one of each round gets the key.
func testRaceKeys(t *testing.T, m Maker) {
	stores := []storage.Store{m.open(t)}
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
					var claim storage.Claim
					if claim, _, err = storage.ClaimNew(run); err == nil {
						cp := headAt(0, states.FlowRunning)
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

// testKeyModel compares random starts, ends, successors and reopenings over two processes with a map of keys.
func testKeyModel(t *testing.T, m Maker) {
	one := m.open(t)
	stores := []storage.Store{one, m.join(t, one)}
	tries := 0
	rapid.Check(t, func(rt *rapid.T) {
		tries++
		type run struct {
			key string
			seq int64
		}
		holder, open := map[string]string{}, map[string]*run{}
		for step := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			s := stores[rapid.IntRange(0, 1).Draw(rt, "process")]
			key := fmt.Sprintf("m%d-%s", tries, rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "key"))
			id := fmt.Sprintf("m%d-%d", tries, step)
			ids := make([]string, 0, len(open))
			for id := range open {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			if len(ids) == 0 || rapid.Bool().Draw(rt, "start") {
				err := s.Create(t.Context(), storage.Run{ID: id, Flow: "f", Key: key})
				if (err == nil) != (holder[key] == "") {
					rt.Fatalf("start with key %q, which %q has: %v", key, holder[key], err)
				}
				if err == nil {
					holder[key], open[id] = id, &run{key: key}
				}
				continue
			}
			ends := rapid.SampledFrom(ids).Draw(rt, "run")
			r := open[ends]
			claim, _, err := s.Begin(t.Context(), ends)
			if err != nil {
				rt.Fatal(err)
			}
			cp := lastOf(r.seq)
			if rapid.Bool().Draw(rt, "continues") {
				cp.Children = []storage.Run{{ID: id, Flow: "f", Key: r.key}}
			}
			if err := s.Commit(t.Context(), claim, cp); err != nil {
				rt.Fatal(err)
			}
			delete(open, ends)
			delete(holder, r.key)
			if len(cp.Children) > 0 {
				holder[r.key], open[id] = id, &run{key: r.key}
			}
		}
		for _, key := range []string{"x", "y", "z"} {
			key = fmt.Sprintf("m%d-%s", tries, key)
			run, err := stores[1].OpenRun(t.Context(), key)
			if err != nil && !errors.Is(err, storage.ErrNotFound) || run.ID != holder[key] {
				rt.Fatalf("the key %q is held by %q, %v; want %q", key, run.ID, err, holder[key])
			}
		}
	})
}
