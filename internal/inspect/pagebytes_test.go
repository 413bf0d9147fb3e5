package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPagesHaveBytes reads lines, events, runs and audit lines that are large, in pages of 500: a page has some
// megabytes, and the next goes on where it ended.
//
// Attack (HTTP server): Pages of 500 rows whose rows are large.
// Result: A page ends after 4 MiB. All lists of the API, the console and the command do, as the stores do.
// Also: `storage/sqlstore: TestStore/LargePages`.
func TestPagesHaveBytes(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	large := strings.Repeat("x", 200<<10)
	var steps []flow.Node
	for i := range 40 {
		steps = append(steps, atom.Func(fmt.Sprint("a", i), func(context.Context, struct{}) (string, error) { return large, nil }))
	}
	e, err := engine.New(flow.Linear("rows", steps...), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "rows"); err != nil {
		t.Fatal(err)
	}
	text := `{"StartAt": "S0", "States": {`
	for i := range 20 {
		text += fmt.Sprintf(`"S%d": {"Type": "Pass", "Next": "S%d"}, `, i, i+1)
	}
	m, err := asl.Parse("events", []byte(text+`"S20": {"Type": "Succeed"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	machine, err := engine.New(m.Flow(), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := machine.Run(t.Context(), "events", engine.Input(atom.MustEncode(large))); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		run := storage.Run{ID: fmt.Sprint("run", i), Flow: "f", Attrs: atom.MustEncode(large)}
		if err := store.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	read := func(id string, page func(run *storage.Run, after int64) (rows int, bytes int, next int64, err error)) (rows, pages int) {
		run, err := store.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for after := int64(0); ; pages++ {
			n, bytes, next, err := page(&run, after)
			if err != nil || bytes > storage.PageBytes+250<<10 {
				t.Fatalf("a page of %s has %d bytes, %v", id, bytes, err)
			}
			if rows, after = rows+n, next; after == 0 {
				return rows, pages + 1
			}
		}
	}
	rows, pages := read("rows", func(run *storage.Run, after int64) (int, int, int64, error) {
		page, next, err := inspect.HistoryPage(t.Context(), store, run, after, 500)
		bytes := 0
		for i := range page {
			bytes += len(page[i].Result)
		}
		return len(page), bytes, next, err
	})
	if rows < 80 || pages != 2 {
		t.Errorf("%d lines in %d pages", rows, pages)
	}
	rows, pages = read("events", func(run *storage.Run, after int64) (int, int, int64, error) {
		page, next, err := inspect.EventPage(t.Context(), store, run, after, 500)
		bytes := 0
		for i := range page {
			bytes += len(page[i].Details) + len(page[i].Body)
		}
		return len(page), bytes, next, err
	})
	if rows != 2+20*2+2 || pages != 3 {
		t.Errorf("%d events in %d pages", rows, pages)
	}
	seen := map[string]bool{}
	search := runfilter.Search{Limit: 500}
	for pages = 0; pages == 0 || search.Cursor.String() != ""; pages++ {
		page, err := runfilter.Find(t.Context(), store, search)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Runs {
			seen[page.Runs[i].ID] = true
		}
		search.Cursor = page.Next
	}
	if len(seen) != 62 || pages != 3 {
		t.Errorf("%d runs in %d pages", len(seen), pages)
	}
}
