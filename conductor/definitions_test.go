package conductor_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestDefinitions: jobs of stored definitions, in the languages of the catalog.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		for _, text := range []string{"old", "new", "panic"} {
			name := map[bool]string{true: "worse", false: "trip"}[text == "panic"]
			if _, err := store.PutDefinition(t.Context(), storage.Definition{Hash: text, Name: name, Language: "toy/v1", Text: []byte(text)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := store.PutDefinition(t.Context(), storage.Definition{Hash: "x", Name: "foreign", Language: "klingon"}); err != nil {
			t.Fatal(err)
		}
		var said []string
		catalog := conductor.NewCatalog().Language("toy", func(_ context.Context, def storage.Definition) (flow.Node, error) {
			if string(def.Text) == "panic" {
				panic("the language is broken")
			}
			return trip(def.Name, func(context.Context, int) error { said = append(said, string(def.Text)); return nil }), nil
		})
		post(t, store,
			jobs.Job{ID: "a", Flow: "trip", Version: 1, Input: order{}}, jobs.Job{ID: "b", Flow: "trip", Input: order{}},
			jobs.Job{ID: "c", Flow: "worse", Input: order{}}, jobs.Job{ID: "d", Flow: "foreign"})
		serve(t, store, catalog, time.Minute, engine.WithSlots(1))
		if got := strings.Join(said, " "); got != "old new" {
			t.Errorf("ran %q", got)
		}
		wantJob(t, store, "b", states.JobComplete, "")
		wantJob(t, store, "c", states.JobParked, atom.CodeNoStart)
		wantJob(t, store, "d", states.JobUnclaimed, "")
		if run, err := store.Run(t.Context(), "b"); err != nil || run.Definition != "new" {
			t.Errorf("b ran on %q (%v)", run.Definition, err)
		}
	})
}

// TestUsedDefinition: a chosen version is taken until a text is stored that was never stored before. To store an older
// text again changes nothing.
func TestUsedDefinition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		put := func(texts ...string) {
			for _, text := range texts {
				def := storage.Definition{Hash: text, Name: "trip", Language: "toy", Text: []byte(text)}
				if _, err := store.PutDefinition(t.Context(), def); err != nil {
					t.Fatal(err)
				}
			}
		}
		var said []string
		catalog := conductor.NewCatalog().Language("toy", func(_ context.Context, def storage.Definition) (flow.Node, error) {
			return trip(def.Name, func(context.Context, int) error { said = append(said, string(def.Text)); return nil }), nil
		})
		put("old", "bad")
		for i, change := range []func(){
			func() {},
			func() {
				if _, err := backend.UseDefinition(t.Context(), store, "trip", 1); err != nil {
					t.Fatal(err)
				}
			},
			func() { put("bad", "old") },
			func() { put("new") },
			func() { put("old") },
		} {
			change()
			post(t, store, jobs.Job{ID: strconv.Itoa(i), Flow: "trip", Input: order{}})
			serve(t, store, catalog, time.Minute, engine.WithSlots(1))
		}
		if want := []string{"bad", "old", "old", "new", "new"}; !slices.Equal(said, want) {
			t.Errorf("ran %q", said)
		}
		if _, err := backend.UseDefinition(t.Context(), store, "trip", 7); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("a version that is not stored: %v", err)
		}
	})
}
