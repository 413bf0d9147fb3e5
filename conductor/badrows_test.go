package conductor_test

import (
	"context"
	"errors"
	"fmt"
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

// A damaging store answers that the records of some runs are damaged.
type damaging struct{ backend.Store }

func (d damaging) Due(ctx context.Context, q backend.DueQuery) ([]backend.Due, time.Time, error) {
	due, next, err := d.Store.Due(ctx, q)
	for i := range due {
		if strings.HasPrefix(due[i].Run, "damaged") {
			due[i] = backend.Due{Run: due[i].Run, Err: fmt.Errorf("%w: %s", storage.ErrCorrupt, due[i].Run)}
		}
	}
	return due, next, err
}

// TestBadRows: many jobs and runs that this conductor cannot start or drive do not keep the next one from its end.
//
// Guarantee (Jobs): Jobs and runs that a process cannot start or drive do not keep it from the others.
func TestBadRows(t *testing.T) {
	t.Parallel()
	const many = 300
	says := func(name string) flow.Node {
		return flow.Linear(name, atom.Func("say", func(context.Context, struct{}) (string, error) { return "", nil }))
	}
	run := func(id, of, definition string) func(*testing.T, backend.Store, int) {
		return func(t *testing.T, store backend.Store, i int) {
			t.Helper()
			at := time.Now().Add(-time.Hour)
			one := storage.Run{ID: fmt.Sprint(id, i), Flow: of, Structure: "x", Definition: definition, Created: at, Due: at}
			if err := store.Create(t.Context(), one); err != nil {
				t.Fatal(err)
			}
		}
	}
	job := func(of string) func(*testing.T, backend.Store, int) {
		return func(t *testing.T, store backend.Store, i int) {
			t.Helper()
			post(t, store, jobs.Job{ID: fmt.Sprint("bad", i), Flow: of, Priority: 1})
		}
	}
	for name, add := range map[string]func(*testing.T, backend.Store, int){
		"definition does not parse":       job("unparsed"),
		"definition's language panics":    job("panics"),
		"definition's language is gone":   job("gone"),
		"run of an unknown flow":          run("unknown", "unknown", ""),
		"run of another version":          run("other", "trip", ""),
		"damaged run":                     run("damaged", "trip", ""),
		"run whose definition is gone":    run("none", "none", "gone"),
		"run whose definition is no flow": run("unparsed", "unparsed", "unparsed"),
		"run whose definition panics":     run("panics", "panics", "panics"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := damaging{memstore.New()}
				for _, hash := range []string{"unparsed", "panics"} {
					def := storage.Definition{Hash: hash, Name: hash, Language: "toy", Text: []byte(hash)}
					if _, err := store.PutDefinition(t.Context(), def); err != nil {
						t.Fatal(err)
					}
				}
				def := storage.Definition{Hash: "of another", Name: "gone", Language: "gone", Text: []byte("{}")}
				if _, err := store.PutDefinition(t.Context(), def); err != nil {
					t.Fatal(err)
				}
				catalog := conductor.NewCatalog().Add(1, says("trip")).
					Language("toy", func(_ context.Context, def storage.Definition) (flow.Node, error) {
						if def.Hash == "panics" {
							panic("the language is broken")
						}
						return nil, errors.New("this is no flow")
					})
				for i := range many {
					add(t, store, i)
				}
				post(t, store, jobs.Job{ID: "good", Flow: "trip", Run: "good"})
				eng, err := engine.New(says("trip"), store)
				if err != nil {
					t.Fatal(err)
				}
				if err := eng.Start(t.Context(), "last"); err != nil {
					t.Fatal(err)
				}
				serve(t, store, catalog, 5*time.Second, engine.WithSlots(2))
				wantRun(t, store, "good", states.FlowSuccess)
				wantRun(t, store, "last", states.FlowSuccess)
			})
		})
	}
}
