package engine_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A stage is the world of a test's atoms. It records what they do, in order, and says how each call of an atom ends.
type stage struct {
	mu    sync.Mutex
	acts  []string
	calls map[string]int
	do    map[string]func(ctx context.Context, n int) error // n is the number of the call, from 1
	undo  map[string]func(ctx context.Context, n int) error
}

func (s *stage) act(act string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.acts = append(s.acts, act)
	s.calls[act]++
	return s.calls[act]
}

// took returns the recorded actions, and clears them.
func (s *stage) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	acts := s.acts
	s.acts = nil
	return acts
}

// atom returns an atom that records "name" and "undo name" on the stage.
func (s *stage) atom(name string, opts ...atom.Option) *atom.Atom {
	return atom.Untyped(name,
		func(ctx context.Context, _ atom.Values) (any, error) {
			n := s.act(name)
			if do := s.do[name]; do != nil {
				if err := do(ctx, n); err != nil {
					return nil, err
				}
			}
			return name, nil
		},
		func(ctx context.Context, _ atom.Values, did atom.Outcome[atom.Value]) (any, error) {
			act := "undo " + name
			if !did.Unknown() {
				act += " " + did.String()
			}
			n := s.act(act)
			if undo := s.undo[name]; undo != nil {
				return nil, undo(ctx, n)
			}
			return nil, nil
		}, opts...)
}

// A script says how the calls of atoms end, by name.
type script = map[string]func(ctx context.Context, n int) error

var errRefused = atom.Errorf("Refused", "it will not")

// alwaysFails fails each time.
func alwaysFails(context.Context, int) error { return errRefused }

// failsOnce fails the first time.
func failsOnce(_ context.Context, n int) error {
	if n == 1 {
		return errRefused
	}
	return nil
}

// untilCancelled waits until its context ends.
func untilCancelled(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }

func wantActs(t *testing.T, s *stage, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.took()); diff != "" {
		t.Errorf("acts (-want +got):\n%s", diff)
	}
}

func wantEnd(t *testing.T, res *engine.Result, state string, outcome storage.Outcome, undo storage.Undone) {
	t.Helper()
	if res == nil {
		t.Fatal("there is no result")
	}
	if r := &res.Run; r.State.String() != state || r.Outcome != outcome || r.Undo != undo {
		t.Errorf("ended %v, outcome %d, undo %d; want %s, %d, %d", r.State, r.Outcome, r.Undo, state, outcome, undo)
	}
}

// wantStates compares the states of a run's atoms, each written "name STATE".
func wantStates(t *testing.T, store backend.Store, run string, want ...string) {
	t.Helper()
	atoms, err := store.Atoms(t.Context(), run, storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range atoms {
		got = append(got, a.Path+" "+a.State.String())
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

// A box is a list that goroutines share.
type box[T any] struct {
	mu   sync.Mutex
	list []T
}

func (b *box[T]) put(v T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, v)
}

// at returns the nth entry, from the end if n is negative.
func (b *box[T]) at(n int) T {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 0 {
		n += len(b.list)
	}
	return b.list[n]
}
