package inspect_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestHistory: no line reports a revert of an atom that nothing reverts. The lines keep their numbers, so that a reader
// can continue after one.
func TestHistory(t *testing.T) {
	t.Parallel()
	does := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	store := memstore.New()
	e, err := engine.New(flow.Linear("order",
		atom.Pair("reserve", does, func(context.Context, struct{}, atom.Outcome[struct{}]) error { return nil }),
		atom.Func("charge", does),
		atom.Func("ship", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, atom.Errorf("No", "no") }),
	), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "o"); err == nil {
		t.Fatal("it did not fail")
	}
	run, err := store.Run(t.Context(), "o")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	last := int64(0)
	for line, err := range inspect.History(t.Context(), store, &run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind != storage.EntryFlow && len(got) < 100 {
			got = append(got, line.Path+" "+inspect.EntryOf(&run.Secrets, &line).To)
		}
		last = line.Seq
	}
	want := strings.Split("reserve RUNNING,reserve SUCCESS,charge RUNNING,charge SUCCESS,ship RUNNING,ship FAILURE,"+
		"charge STAYS_DONE,reserve REVERTING,reserve REVERTED", ",")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var all []inspect.Entry
	for line, err := range inspect.History(t.Context(), store, &run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, inspect.EntryOf(&run.Secrets, &line))
	}
	for limit := 1; limit <= len(all)+1; limit++ {
		var pages []inspect.Entry
		for after, more := int64(0), true; more; more = after != 0 {
			var page []inspect.Entry
			if page, after, err = inspect.HistoryPage(t.Context(), store, &run, after, limit); err != nil || len(page) > limit {
				t.Fatal(len(page), err)
			}
			pages = append(pages, page...)
		}
		if diff := cmp.Diff(all, pages); diff != "" {
			t.Errorf("pages of %d: %s", limit, diff)
		}
	}
	for line, err := range inspect.History(t.Context(), store, &run, last-1) {
		if err != nil || line.Seq != last {
			t.Errorf("after line %d comes %d, %v", last-1, line.Seq, err)
		}
	}
}
