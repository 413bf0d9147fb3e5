package console_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestLargeChild: the tree of a small run that began a large one unfolds level by level, as that of a large run does. A
// small child is shown at once.
func TestLargeChild(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	h := console.New(store, console.Options{})
	for size, levels := range map[int]bool{3: false, 1100: true} {
		var many []flow.Node
		for i := range size {
			name := fmt.Sprintf("step%d", i)
			many = append(many, atom.Func(name, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }))
		}
		id := fmt.Sprint("parent", size)
		eng, err := engine.New(flow.Linear(id, flow.Run[struct{}, struct{}]("child", flow.Unordered("child", many...))), store)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		body := get(t, h, http.MethodGet, "/run?id="+id).Body.String()
		if strings.Contains(body, "data-levels") != levels || strings.Contains(body, ">step2<") == levels {
			t.Errorf("with a child of %d atoms, the tree is\n%.5000s", size, body)
		}
	}
}
