package sfn_test

import (
	"context"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server/sfn"
)

// TestOutputOfAnotherType: SendTaskSuccess for the token of a flow in Go refuses what its atom does not decode.
func TestOutputOfAnotherType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	ask := atom.Func("ask", func(context.Context, struct{}) (int, error) { return 0, atom.ErrDeferred },
		atom.Deferrable(atom.Deferral{}), atom.As("votes"))
	e, err := engine.New(flow.Linear("f", ask), w.store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "r", engine.Unload()); err == nil {
		t.Fatal("it does not wait")
	}
	tokens, err := w.store.RunTokens(t.Context(), "r")
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	w.refuses(t, "SendTaskSuccess", object{"taskToken": tokens[0].ID, "output": `"three"`}, "InvalidOutput")
	w.must(t, "SendTaskSuccess", object{"taskToken": tokens[0].ID, "output": `3`}, nil)
	if _, err := e.Run(t.Context(), "r"); err != nil {
		t.Error(err)
	}
}
