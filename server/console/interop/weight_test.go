package interop_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// What a page may weigh.
const (
	mostGzipped     = 100 << 10 // bytes until a page is usable
	mostTransferred = 300 << 10 // bytes in all
	mostElements    = 3000
)

// TestWeight: the page of a run is light, also of one with 10,000 atoms.
func TestWeight(t *testing.T) {
	t.Parallel()
	s := shared(t)
	b := open(t, look{1280, false, true})
	for _, run := range []string{tripRun, stuckRun, largeRun, manyRun} {
		for _, view := range []string{"tree", "graph", "timeline", "undo", "history"} {
			address := s.page("run", "id", run, "view", view)
			gzipped := 0
			millis, elements := b.load(address)
			for _, asset := range b.asked() {
				if strings.Contains(asset, "/stream?") { // the stream, which continues and has no contents
					continue
				}
				text, err := fetch(t.Context(), asset)
				if err != nil {
					t.Fatal(err)
				}
				var out bytes.Buffer
				w := gzip.NewWriter(&out)
				if _, err := w.Write([]byte(text)); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				gzipped += out.Len()
			}
			transferred := b.received()
			t.Logf("%s %s: %d bytes, %d gzipped, %d elements, %.0f ms", run, view, transferred, gzipped, elements, millis)
			if gzipped > mostGzipped || transferred > mostTransferred || elements > mostElements {
				t.Errorf("%s %s: %d bytes, %d gzipped, %d elements, %.0f ms", run, view, transferred, gzipped, elements, millis)
			}
		}
	}
}

// TestHundredThousand: the pages of a run of 100,000 items, and of their run, come within two seconds. No
// other test runs at the same time.
func TestHundredThousand(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(dir, "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	items := make([]int, 100_000)
	for i := range items {
		items[i] = i
	}
	eng, err := engine.New(goFlows()[eachRun], store, engine.With(numbers, items))
	if err != nil {
		t.Fatal(err)
	}
	_, err = eng.Run(t.Context(), eachRun)
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	s := &site{dir: dir, server: serve(t, dir, "console")}
	t.Cleanup(s.kill)
	b := open(t, look{1280, false, true})
	for _, run := range []string{eachRun, eachRun + "/double"} {
		for _, view := range []string{"tree", "graph", "timeline", "undo", "history"} {
			millis, elements := b.load(s.page("run", "id", run, "view", view))
			t.Logf("%s %s: %d elements, %.0f ms", run, view, elements, millis)
			if elements > mostElements {
				t.Errorf("%s %s: %d elements, %.0f ms", run, view, elements, millis)
			}
		}
	}
	b.visit(s.page("run", "id", eachRun, "view", "tree", "below", ""))
	if row := b.texts("[role=treeitem]"); len(row) != 1 || !strings.Contains(row[0], "100000 SUCCESS") {
		t.Errorf("the items are %q", row)
	}
	b.walkLevel("[role=tree]", len(items))
}

// load opens a page. It returns the milliseconds until it is usable, which figures_test.go judges on an idle machine, and
// the number of elements of the page.
func (b *tab) load(address string) (millis float64, elements int) {
	b.t.Helper()
	b.visit(address)
	millis = eval[float64](b, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`)
	return millis, eval[int](b, `document.querySelectorAll("*").length`)
}
