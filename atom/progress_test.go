package atom_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

// A fakeHost records the reports of progress.
type fakeHost struct {
	atom.Host

	reports []string
}

func (h *fakeHost) Progress(fraction float64, details atom.Value) {
	h.reports = append(h.reports, fmt.Sprintf("%v %s", fraction, details))
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var h fakeHost
	ctx := atom.WithHost(t.Context(), &atom.Call{Run: "r", Path: "a"}, &h)
	atom.Progress(ctx, 0.5, map[string]int{"row": 7})
	atom.Progress(ctx, -1, nil)
	atom.Progress(ctx, math.Inf(1), func() {})
	atom.Progress(ctx, math.NaN(), strings.Repeat("x", atom.MaxDetails))
	want := []string{`0.5 {"row":7}`, "0 ", "1 ", "0 "}
	if diff := cmp.Diff(want, h.reports); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	atom.Progress(t.Context(), 0.5, "nobody listens")
	atom.Progress(atom.WithCall(t.Context(), &atom.Call{}), 0.5, "nobody listens")
}
