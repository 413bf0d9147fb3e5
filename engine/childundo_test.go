package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestUndoOfARunIsRetried retries the undo of a run whose child run could not be undone. The command reaches the
// reverts of the child. If a person has repaired the child, its parent continues with it. A message about an earlier
// end of the child comes late, and changes nothing.
func TestUndoOfARunIsRetried(t *testing.T) {
	t.Parallel()
	for name, mended := range map[string]bool{"parent": false, "child first": true} {
		synctest.Test(t, func(t *testing.T) {
			w, stuck, store := newWarehouse(), true, memstore.New()
			child := func(name string) flow.Node {
				return flow.Linear(name, atom.Pair("print", func(context.Context, parcel) (label, error) {
					return label{name}, nil
				}, func(context.Context, parcel, atom.Outcome[label]) error {
					if stuck && name == "second" {
						return errors.New("the printer burns")
					}
					w.note("undo " + name)
					return nil
				}))
			}
			post := atom.Func("post", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
			root := flow.Linear("order", post, flow.Run[parcel, struct{}]("one", child("first")),
				flow.Run[parcel, label]("two", child("second")), bill(w, true))
			e := newEngine(t, root, engine.WithStore(store), engine.WithInputs(orderKey))
			if _, err := e.Run(t.Context(), name, engine.With(orderKey, name)); err == nil {
				t.Fatal("it succeeded")
			}
			if run := runOf(t, store, name); !run.NeedsPerson() {
				t.Fatalf("%s: the run is %+v", name, run)
			}
			retry := func(id string) {
				late := storage.Message{
					Run: name, Kind: "child", Name: name + "/two", Failure: &atom.Failure{Code: atom.CodeCancelled},
				}
				if err := engine.Send(t.Context(), store, id, engine.RetryRevert("")); err != nil {
					t.Fatal(err)
				}
				if err := store.Send(t.Context(), late); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := e.Serve(ctx); err != nil {
					t.Error(err)
				}
			}
			retry(name)
			if run := runOf(t, store, name); !run.NeedsPerson() || len(w.lines) > 0 {
				t.Errorf("%s: the run is %v, did %q", name, run.State, w.lines)
			}
			wantStuckAt(t, store, name)
			stuck = false
			if mended {
				retry(name + "/two")
			}
			retry(name)
			if run := runOf(t, store, name); run.State != states.FlowReverted || run.NeedsPerson() {
				t.Errorf("%s: the run is %v, %v", name, run.State, run.Failure)
			}
			if want := []string{"undo second", "undo first"}; !slices.Equal(w.lines, want) {
				t.Errorf("%s: did %q, want %q", name, w.lines, want)
			}
		})
	}
}

// wantStuckAt checks the views of a run whose undo stopped at atom "two". The undo has not reached "post" yet, and the
// run did not fail at "two".
func wantStuckAt(t *testing.T, store backend.Store, id string) {
	t.Helper()
	w, err := inspect.Diagnose(t.Context(), store, runOf(t, store, id))
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(w.Sentences(time.Now()), "\n")
	if strings.Contains(said, "It failed at two") || !strings.Contains(said, "two could not be undone") {
		t.Errorf("said of the run is:\n%s", said)
	}
	atoms, err := store.AtomsAt(t.Context(), id, "post")
	if err != nil || len(atoms) != 1 || atoms[0].Status() != "SUCCESS" {
		t.Errorf("the atom before is %+v, %v", atoms, err)
	}
}
