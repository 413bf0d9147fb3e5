package server

import (
	"context"
	"testing"
)

// TestPolls lets half of the connections wait for work, and no more.
func TestPolls(t *testing.T) {
	t.Parallel()
	cs := newConnections(nil, 10, false)
	ctx := withConnection(t.Context(), &connection{of: cs})
	var ends []func()
	for range 5 {
		end, ok := Poll(ctx)
		if !ok {
			t.Fatal("refused")
		}
		ends = append(ends, end)
	}
	if _, ok := Poll(ctx); ok {
		t.Error("six of ten wait for work")
	}
	if end, ok := Poll(context.Background()); !ok {
		t.Error("refused outside a server")
	} else {
		end()
	}
	ends[0]()
	if _, ok := Poll(ctx); !ok {
		t.Error("refused although one has ended")
	}
}
