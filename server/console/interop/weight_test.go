package interop_test

import (
	"bytes"
	"compress/gzip"
	"testing"
)

// What a page may weigh: see docs/explanation/console.md.
const (
	mostGzipped     = 100 << 10 // bytes until a page is usable
	mostTransferred = 300 << 10 // bytes in all
	mostElements    = 3000
	mostMillis      = 1000 // until a run of 10,000 atoms is usable
)

// TestWeight: the page of a run is light, also of one with 10,000 atoms.
func TestWeight(t *testing.T) {
	t.Parallel()
	s := shared(t)
	b := open(t, look{1280, false, true})
	for _, run := range []string{tripRun, stuckRun, largeRun, manyRun} {
		for _, view := range []string{"tree", "graph", "timeline", "undo", "history"} {
			address := s.page("run", "id", run, "view", view)
			gzipped, millis := 0, 1e9
			for range 5 { // the machine may be busy: the fastest counts
				b.visit(address)
				millis = min(millis, eval[float64](b, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`))
			}
			elements := eval[int](b, `document.querySelectorAll("*").length`)
			for _, asset := range b.asked() {
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
			if gzipped > mostGzipped || transferred > mostTransferred || elements > mostElements || millis > mostMillis {
				t.Errorf("%s %s: %d bytes, %d gzipped, %d elements, %.0f ms", run, view, transferred, gzipped, elements, millis)
			}
		}
	}
}
