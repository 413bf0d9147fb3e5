package storagetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestFaultyPasses runs the suite on a store with which nothing goes wrong.
func TestFaultyPasses(t *testing.T) {
	t.Parallel()
	none := func(Call) Fault { return Fault{} }
	Run(t, Maker{
		Open: func(testing.TB) storage.Store { return Faulty(memstore.New(), none) },
		Join: func(_ testing.TB, s storage.Store) storage.Store {
			return Faulty(s.(*faulty).Store.(*memstore.Store).Join(), none)
		},
	})
}

// TestFaultyFails lets every call of every method fail.
func TestFaultyFails(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	s := Faulty(memstore.New(), func(c Call) Fault {
		seen[c.Method] = true
		return Disk
	})
	p := &pen{store: s, claim: storage.Claim{Run: "a"}}
	for name, err := range calls(t, s, p) {
		if !errors.Is(err, ErrDisk) || !seen[name] {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := maps.Clone(writes)
	delete(all, "Transact") // which this store has not
	for method := range maps.Keys(all) {
		if !seen[method] {
			t.Errorf("%s is no method", method)
		}
	}
}

// TestFaultyLoses shows what each fault of a commit leaves.
func TestFaultyLoses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault Fault
		seq   int64 // after it
	}{"lost": {Lost, 2}, "unsure": {Unsure, 1}, "busy": {Busy, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Faulty(memstore.New(), At("Commit", 2, c.fault))
			create(t, s, run("a"))
			p := begin(t, s, "a")
			p.write(t, storage.Checkpoint{})
			cp := p.next(storage.Checkpoint{History: []storage.Entry{{Path: "x"}}})
			want(t, "Commit", s.Commit(t.Context(), p.claim, cp), c.fault.Err)
			if got := load(t, s, "a").Seq; got != c.seq {
				t.Errorf("the run stands at %d, want %d", got, c.seq)
			}
			must(t, "the same again", p.commit(t.Context(), cp))
			if got := load(t, s, "a"); got.Seq != 2 || got.Entries != 1 {
				t.Errorf("run is %+v", got)
			}
			p.finish(t, states.FlowSuccess)
		})
	}
}

func TestFaultyDelays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := Faulty(memstore.New(), From("Create", 2, Fault{Delay: time.Hour}))
		begun := time.Now()
		create(t, s, run("a"), run("b"))
		if waited := time.Since(begun); waited != time.Hour {
			t.Errorf("waited %v", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		want(t, "Create", s.Create(ctx, run("c")), context.DeadlineExceeded)
		want(t, "Run", errOf(s.Run(t.Context(), "c")), storage.ErrNotFound)
	})
}

// TestSometimes draws the same faults from the same seed.
func TestSometimes(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) (faults []Fault) {
		plan := Sometimes(seed, 0.3, Lost, Busy)
		for _, method := range slices.Repeat([]string{"Commit", "Begin", "Run"}, 100) {
			f := plan(Call{Method: method})
			if f.Err != nil && (method == "Run" || method == "Begin" && f == Lost) {
				t.Errorf("%s: %+v", method, f)
			}
			faults = append(faults, f)
		}
		return faults
	}
	if !slices.Equal(draw(7), draw(7)) || slices.Equal(draw(7), draw(8)) {
		t.Error("the faults do not follow from the seed")
	}
	if !slices.Contains(draw(7), Lost) || !slices.Contains(draw(7), Busy) {
		t.Error("not all faults were drawn")
	}
}
