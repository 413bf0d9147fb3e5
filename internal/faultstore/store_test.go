package faultstore

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestWrites finds a name in the list of writing methods that no method has.
func TestWrites(t *testing.T) {
	t.Parallel()
	for name := range writes {
		_, there := reflect.TypeFor[interface {
			backend.Store
			backend.Transactor
		}]().MethodByName(name)
		if !there {
			t.Errorf("%s is no method", name)
		}
	}
}

// TestLoses checks what remains after each fault of a commit.
func TestLoses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault Fault
		seq   int64 // after it
	}{"lost": {Lost, 2}, "unsure": {Unsure, 1}, "busy": {Busy, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(memstore.New(), At("Commit", 2, c.fault))
			claim, snap, err := backend.ClaimNew(storage.Run{ID: "a"})
			commit := func(cp backend.Checkpoint) error {
				cp.Head.Seq, cp.Head.State = snap.Run.Seq, snap.Run.State
				return s.Commit(t.Context(), claim, &cp)
			}
			if err := errors.Join(err, commit(backend.Checkpoint{})); err != nil {
				t.Fatal(err)
			}
			snap.Run.Seq++
			second := backend.Checkpoint{Head: backend.Head{Entries: 1}, History: []storage.Entry{{Seq: 1, Path: "x"}}}
			if err := commit(second); !errors.Is(err, c.fault.Err) {
				t.Errorf("the second commit: %v", err)
			}
			if got, err := s.Run(t.Context(), "a"); err != nil || got.Seq != c.seq {
				t.Errorf("the run stands at %d, want %d (%v)", got.Seq, c.seq, err)
			}
			if err := commit(second); err != nil {
				t.Errorf("the same again: %v", err)
			}
			if got, err := s.Run(t.Context(), "a"); err != nil || got.Seq != 2 || got.Entries != 1 {
				t.Errorf("run is %+v (%v)", got, err)
			}
		})
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(memstore.New(), From("Create", 2, Fault{Delay: time.Hour}))
		begun := time.Now()
		for _, id := range []string{"a", "b"} {
			if err := s.Create(t.Context(), storage.Run{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(begun); waited != time.Hour {
			t.Errorf("waited %v", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Create(ctx, storage.Run{ID: "c"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Create: %v", err)
		}
		if _, err := s.Run(t.Context(), "c"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Run: %v", err)
		}
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
