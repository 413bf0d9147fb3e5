package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// detached returns what Detached yields.
func detached(ctx context.Context, eng *engine.Engine, run string) (ids []string, err error) {
	for id, err := range eng.Detached(ctx, run) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// A purgingStore purges a run between two reads of it.
type purgingStore struct {
	backend.Store

	run string
}

func (s *purgingStore) Run(ctx context.Context, id string) (storage.Run, error) {
	run, err := s.Store.Run(ctx, id)
	if err == nil && id == s.run {
		_, err = s.Purge(ctx, id)
	}
	return run, err
}

// TestDetachedTree lists a tree of detached runs, parents before children. It lists the children of a run that has
// ended. It leaves out a run that is purged meanwhile.
func TestDetachedTree(t *testing.T) {
	t.Parallel()
	tree := flow.Growing("tree", lang(func(ask *grow.Ask) grow.Growth {
		begins := strings.Fields(map[string]string{"r": "a b c", "a": "d e", "b": "f", "d": "g"}[ask.Run.ID])
		begun := 0
		if ask.Cause.Kind != grow.Begin {
			_ = ask.Memory.Decode(&begun)
		}
		if begun == len(begins) {
			return done(0)
		}
		id := begins[begun]
		return grow.Growth{Memory: atom.MustEncode(begun + 1), Add: []grow.Spec{
			{Name: id, Kind: grow.Nested, Child: &grow.Child{Flow: "tree", ID: id, Detached: true}},
		}}
	}))
	store := &purgingStore{Store: memstore.New()}
	eng := newEngine(t, tree, engine.WithStore(store))
	for _, id := range []string{"r", "a", "b", "d"} {
		if _, err := eng.Run(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string {
		t.Helper()
		ids, err := detached(t.Context(), eng, "r")
		if err != nil {
			t.Error(err)
		}
		return strings.Join(ids, "")
	}
	if got := list(); got != "gefc" {
		t.Errorf("listed %q", got)
	}
	store.run = "a" // d, e and g are found by its atoms
	if got := list(); got != "fc" {
		t.Errorf("listed %q when a run was purged", got)
	}
	for _, err := range eng.Detached(t.Context(), "r") {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if _, err := detached(t.Context(), eng, "none"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("of a run that does not exist: %v", err)
	}
}
