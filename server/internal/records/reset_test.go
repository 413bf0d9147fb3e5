package records_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestReset deletes the selected runs, more than a page of them, and the selected records of the given kinds; and
// nothing else.
func TestReset(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), memstore.New()
	for i := range storage.PageRuns + 2 {
		for _, prefix := range []string{"a", "b"} {
			if err := store.Create(ctx, storage.Run{ID: fmt.Sprint(prefix, i), Flow: "f"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, kind := range []string{"given", "other"} {
		for _, key := range []string{"a", "b"} {
			if _, err := store.WriteRecords(ctx, storage.RecordWrite{Kind: kind, Key: key}); err != nil {
				t.Fatal(err)
			}
		}
	}
	n, err := records.Reset(ctx, backend.Of(store), func(run *storage.Run) bool { return strings.HasPrefix(run.ID, "a") },
		func(key string) bool { return key == "a" }, "given")
	if n != storage.PageRuns+2 || err != nil {
		t.Errorf("deleted %d runs, %v", n, err)
	}
	left := 0
	for run, err := range storage.EachRun(ctx, store, storage.RunQuery{Brief: true}) {
		if left++; err != nil || strings.HasPrefix(run.ID, "a") {
			t.Fatal(run.ID, err)
		}
	}
	var kept []string
	for _, kind := range []string{"given", "other"} {
		for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: kind}) {
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, record.Kind+" "+record.Key)
		}
	}
	if want := []string{"given b", "other a", "other b"}; left != storage.PageRuns+2 || !slices.Equal(kept, want) {
		t.Errorf("%d runs and the records %q are left", left, kept)
	}
}
