package engine_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// asks is a language that asks a person what to do until it hears "go". It continues to work meanwhile.
var asks = lang(func(ask *grow.Ask) grow.Growth {
	c := &ask.Cause
	lines := memo(ask)
	g := grow.Growth{Listen: true}
	switch {
	case c.Kind == grow.Begin:
		g.Add = []grow.Spec{timer(ask, "tick", time.Minute)}
	case c.Kind == grow.Ended && len(lines) == 0:
		g.Person = &atom.Failure{Message: "go, or not?"}
		g.Add = []grow.Spec{timer(ask, "tick again", time.Hour)}
		g.Memory = atom.MustEncode([]string{"asked"})
	case c.Kind == grow.Told && c.Name == "go":
		g.Person = &atom.Failure{}
		g.Memory = atom.MustEncode([]string{"asked", "heard"})
	case c.Kind == grow.Told:
		return done(lines)
	}
	return g
})

// TestPerson lets a language ask a person. The run is listed among those that need a person until the person has
// answered, also if it runs, is suspended, loses its process or ends.
func TestPerson(t *testing.T) {
	t.Parallel()
	all := flows{"asks": flow.Growing("asks", asks)}
	begin := func(t *testing.T) backend.Store {
		t.Helper()
		store := memstore.New()
		if err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "asks", Due: time.Now()}); err != nil {
			t.Fatal(err)
		}
		return store
	}
	needs := func(t *testing.T, store backend.Store, want bool) {
		t.Helper()
		runs, err := store.Runs(t.Context(), storage.RunQuery{Stuck: true})
		if err != nil {
			t.Fatal(err)
		}
		listed := slices.ContainsFunc(runs, func(r storage.Run) bool { return r.ID == "r" })
		if run := runOf(t, store, "r"); run.NeedsPerson() != want || listed != want {
			t.Errorf("the run needs a person: %t, and is listed: %t, want %t: %+v", run.NeedsPerson(), listed, want, run)
		}
	}
	tell := func(t *testing.T, store backend.Store, name string) {
		t.Helper()
		if err := store.Send(t.Context(), storage.Message{Run: "r", Kind: "signal", Name: name, Body: atom.Null}); err != nil {
			t.Fatal(err)
		}
		served(t, store, all, time.Minute)
	}
	t.Run("answer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			store := begin(t)
			served(t, store, all, time.Second)
			needs(t, store, false)
			served(t, store, all, 2*time.Minute)
			needs(t, store, true)
			if failure := runOf(t, store, "r").Failure; failure.Message != "go, or not?" {
				t.Errorf("the reason is %v", failure)
			}
			if _, err := engine.Suspend(t.Context(), store, "r"); err != nil {
				t.Fatal(err)
			}
			needs(t, store, true)
			eng := newEngine(t, all["asks"], engine.WithStore(store), engine.WithCatalog(all))
			if _, err := eng.Run(t.Context(), "r", engine.Unload()); err == nil {
				t.Error("the run has ended")
			}
			needs(t, store, true)
			tell(t, store, "go")
			needs(t, store, false)
			tell(t, store, "end")
			if run := runOf(t, store, "r"); run.Outcome != storage.Succeeded || run.Output.Data.String() != `["asked","heard"]` {
				t.Errorf("ended as %+v", run)
			}
			needs(t, store, false)
		})
	})
	for how, command := range map[string]engine.Command{"cancel": engine.Cancel("no"), "abandon": engine.Abandon("no")} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := begin(t)
				served(t, store, all, 2*time.Minute)
				if err := engine.Send(t.Context(), store, "r", command); err != nil {
					t.Fatal(err)
				}
				served(t, store, all, time.Minute)
				if run := runOf(t, store, "r"); run.Outcome != storage.Cancelled || run.Undo != storage.UndoNone {
					t.Errorf("ended as %+v", run)
				}
				needs(t, store, false)
			})
		})
	}
}
