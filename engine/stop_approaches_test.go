package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// beginning is a flow that begins runs of other flows, and then answers with last.
func beginning(name string, last grow.Growth, children ...grow.Child) flow.Node {
	return flow.Growing(name, lang(func(ask *grow.Ask) grow.Growth {
		if ask.Cause.Kind != grow.Begin {
			return last
		}
		var specs []grow.Spec
		for _, child := range children {
			child.ID = ask.Run.ID + "+" + child.Flow
			specs = append(specs, grow.Spec{Name: child.Flow, Kind: grow.Nested, Child: &child})
		}
		return add(specs...)
	}))
}

// TestStopApproaches: a run begins no run to wait for while a stop is on its way to it from an ancestor. It is stopped
// even if nobody drives the ancestor. Runs that the ancestor does not wait for go on, and so they do if the ancestor
// may refuse the stop.
func TestStopApproaches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mid, leaf grow.Child
		to        string // run that gets the stop
		stop      string // body of the stop
		begins    bool
	}{
		"stopped":             {grow.Child{}, grow.Child{}, "r", `{}`, false},
		"detached":            {grow.Child{Detached: true}, grow.Child{}, "r", `{}`, true},
		"kept":                {grow.Child{Kept: true}, grow.Child{}, "r", `{}`, true},
		"begins a detached":   {grow.Child{}, grow.Child{Detached: true}, "r", `{}`, true},
		"perhaps not stopped": {grow.Child{}, grow.Child{}, "r", `{"next": 9}`, true},
		"refuses the stop":    {grow.Child{}, grow.Child{}, "r+mid", `{"next": 9}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, store := t.Context(), memstore.New()
				c.mid.Flow, c.leaf.Flow = "mid", "leaf"
				waits := beginning("root", grow.Growth{}, grow.Child{Flow: "nobody drives it"}, c.mid)
				if _, err := newEngine(t, waits, engine.WithStore(store)).Run(ctx, "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
					t.Fatal(err)
				}
				stop := storage.Message{Run: c.to, Kind: backend.MessageCancel, Body: atom.FromJSON([]byte(c.stop))}
				if err := backend.Of(store).Send(ctx, stop); err != nil {
					t.Fatal(err)
				}
				leaf := flow.Linear("leaf", atom.Func("leaf", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }))
				below := flows{"mid": beginning("mid", done(0), c.leaf), "leaf": leaf}
				_, ended := newEngine(t, below["mid"], engine.WithStore(store), engine.WithCatalog(below)).Run(ctx, "r+mid")
				_, missing := store.Run(ctx, "r+mid+leaf")
				if begun := missing == nil; begun != c.begins || (ended == nil) != c.begins {
					t.Errorf("begun: %v, the run ended with %v", begun, ended)
				}
			})
		})
	}
}
