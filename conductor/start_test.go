package conductor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestStart starts runs without jobs: of the newest and of an older version of a program's flow, and of a stored
// definition by name and by hash. A run that cannot be started is not created.
func TestStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		for _, hash := range []string{"old", "new", "panic"} {
			def := storage.Definition{Hash: hash, Name: "tour", Language: "toy", Text: []byte(hash)}
			if _, err := store.PutDefinition(t.Context(), def); err != nil {
				t.Fatal(err)
			}
		}
		says := func(flowName, word string) flow.Node {
			return flow.Linear(flowName, atom.Func("say "+word, func(context.Context, struct{}) (string, error) { return word, nil }))
		}
		catalog := conductor.NewCatalog().Add(1, says("trip", "one")).Add(2, says("trip", "two")).
			Language("toy", func(_ context.Context, def storage.Definition) (flow.Node, error) {
				if def.Hash == "panic" {
					panic("the language is broken")
				}
				return says("tour", def.Hash), nil
			})
		c, err := conductor.New(jobs.New(store, jobs.Policy{}), catalog)
		if err != nil {
			t.Fatal(err)
		}
		start := func(id string, of conductor.Ref) error {
			t.Helper()
			return c.Start(t.Context(), id, of, engine.Labels(map[string]string{"of": id}))
		}
		want := func(id, word string) {
			t.Helper()
			wantRun(t, store, id, states.FlowSuccess)
			if a, err := store.Atom(t.Context(), id, "say "+word); err != nil || a.State != states.TaskSuccess {
				t.Errorf("run %q did not say %q: %v (%v)", id, word, a.State, err)
			}
		}
		if err := start("early", conductor.Ref{Flow: "trip"}); err != nil {
			t.Fatal(err)
		}
		wantRun(t, store, "early", states.FlowPending)
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- c.Run(ctx) }()
		synctest.Wait()
		want("early", "two")
		for _, tc := range []struct {
			id, word string
			of       conductor.Ref
		}{
			{"newest", "two", conductor.Ref{Flow: "trip"}},
			{"older", "one", conductor.Ref{Flow: "trip", Version: 1}},
			{"stored", "old", conductor.Ref{Flow: "tour", Version: 1}},
			{"hashed", "new", conductor.Ref{Definition: "new"}},
		} {
			if err := start(tc.id, tc.of); err != nil {
				t.Errorf("%s: %v", tc.id, err)
			}
			synctest.Wait()
			want(tc.id, tc.word)
		}
		if run, err := store.Run(t.Context(), "hashed"); err != nil || run.Definition != "new" || run.Labels["of"] != "hashed" {
			t.Errorf("the run is %+v (%v)", run, err)
		}
		for _, of := range []conductor.Ref{{Flow: "none"}, {Flow: "trip", Version: 3}, {Definition: "none"}} {
			if err := start("none", of); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%+v: %v", of, err)
			}
		}
		if err := start("none", conductor.Ref{Definition: "panic"}); err == nil {
			t.Error("a definition was started whose language panics")
		}
		if _, err := store.Run(t.Context(), "none"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("a run was created: %v", err)
		}
		if err := start("newest", conductor.Ref{Flow: "trip"}); !errors.Is(err, storage.ErrExists) {
			t.Errorf("started twice: %v", err)
		}
		time.Sleep(time.Minute)
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}
