package waiting

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// TestPollers: a worker that has asked for work is remembered for a while. However many names workers choose, few are
// remembered: the last ones.
func TestPollers(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	h := New(nil)
	for n := range 3 * backend.MaxPollers {
		h.asked.remember(fmt.Sprintf("q%04d", n), "w", start)
		h.asked.remember("q0000", fmt.Sprintf("w%04d", n), start.Add(time.Duration(n)))
	}
	all := h.Pollers(start)
	if len(all) != backend.MaxPollers || len(h.asked["q0000"]) > 2*backend.MaxPollerNames {
		t.Fatalf("%d queues are remembered, and %d workers", len(all), len(h.asked["q0000"]))
	}
	first := storage.Poller{Queue: "q0000", Workers: []string{"w2990", "w2991", "w2992", "w2993", "w2994"}}
	if diff := cmp.Diff(first, all[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if late := h.Pollers(start.Add(2 * backend.PollerMemory)); len(late) > 0 || len(h.asked) > 0 {
		t.Errorf("later %+v ask for work", late)
	}
}
