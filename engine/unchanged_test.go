package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestUnchanged starts runs on a record, before and after it changes, with Start and with Run. A refused run has
// executed nothing. An existing run resumes after any change of the record.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	store, executed := memstore.New(), 0
	root := flow.Linear("f", atom.Func("a", func(context.Context, struct{}) (struct{}, error) {
		executed++
		return struct{}{}, nil
	}))
	eng, err := engine.New(root, store)
	if err != nil {
		t.Fatal(err)
	}
	written, err := store.WriteRecords(t.Context(), storage.RecordWrite{Kind: "k", Key: "machine"})
	if err != nil {
		t.Fatal(err)
	}
	on := engine.Unchanged(storage.RecordCheck{Kind: "k", Key: "machine", Revision: written[0].Revision})
	if err := eng.Start(t.Context(), "started", on); err != nil {
		t.Error(err)
	}
	if _, err := eng.Run(t.Context(), "ran", on); err != nil || executed != 1 {
		t.Errorf("%v, %d tasks were executed", err, executed)
	}
	if _, err := store.WriteRecords(t.Context(), storage.RecordWrite{
		Kind: "k", Key: "machine", Was: written[0].Revision, Delete: true,
	}); err != nil {
		t.Fatal(err)
	}
	for id, start := range map[string]func(string) error{
		"by Start": func(id string) error { return eng.Start(t.Context(), id, on) },
		"by Run":   func(id string) error { _, err := eng.Run(t.Context(), id, on); return err },
	} {
		err := start(id)
		conflict, is := errors.AsType[*storage.ConflictError](err)
		if !is || conflict.Key != "machine" || !strings.HasPrefix(err.Error(), `engine: run "`+id+`": record`) {
			t.Errorf("%s: %v", id, err)
		}
		if _, err := store.Run(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: the run is there: %v", id, err)
		}
	}
	if _, err := eng.Run(t.Context(), "started", on); err != nil || executed != 2 {
		t.Errorf("the run that was started before: %v, %d tasks were executed", err, executed)
	}
}
