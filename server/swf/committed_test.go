package swf_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/server/swf"
)

// TestCommittedStart starts an execution through a server whose store fails from the commit of the start on.
func TestCommittedStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	failing := faultstore.New(w.store, faultstore.After(1, faultstore.Busy))
	_, handler, _, err := composed(swf.Config{Store: failing})
	if err != nil {
		t.Fatal(err)
	}
	(&world{handler: handler}).start(t, "x")
}
