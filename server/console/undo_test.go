package console_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPassedPivots: the undo view of a flow in Go lists the points of no return that were passed, without its code. The
// graph marks all of them.
func TestPassedPivots(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	task := func(name string, err error, options ...atom.Option) *atom.Atom {
		return atom.Func(name, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, err }, options...)
	}
	h := console.New(store, console.Options{})
	for id, err := range map[string]error{"passed": nil, "before": errors.New("no stock")} {
		f := flow.Linear("order", task("ship", err, atom.Pivot()), task("mail", errors.New("no address")))
		eng, failed := engine.New(f, store)
		if failed != nil {
			t.Fatal(failed)
		}
		if _, failed = eng.Run(t.Context(), id); failed == nil {
			t.Fatal("the run succeeded")
		}
		undo := get(t, h, http.MethodGet, "/run?view=undo&id="+id).Body.String()
		const list = "⊥ Points of no return that were passed: 1</h2><ul><li>ship</li></ul>"
		if passed := strings.Contains(undo, list); passed != (err == nil) {
			t.Errorf("%s: passed is %v:\n%s", id, passed, undo)
		}
		if graph := get(t, h, http.MethodGet, "/run?view=graph&id="+id).Body.String(); strings.Count(graph, ">⊥ ship<") != 1 {
			t.Errorf("%s: the graph does not mark the point of no return:\n%s", id, graph)
		}
	}
}
