package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// growers are growing flows in Go that return their own names. They form a catalog.
type growers struct{ known map[string]bool }

func (g growers) grower(who string) flow.Node {
	name, _, _ := cut(who)
	return flow.Growing(name, lang(func(ask *grow.Ask) grow.Growth {
		if ask.Cause.Kind == grow.Begin {
			return add(work("a"))
		}
		return done(who)
	}))
}

func cut(who string) (name, definition string, defined bool) { return strings.Cut(who, "@") }

func (g growers) Flow(_ context.Context, run *storage.Run) (flow.Node, error) {
	who := run.Flow
	if run.Definition != "" {
		who += "@" + run.Definition
	}
	if !g.known[who] {
		return nil, fmt.Errorf("%w: %s", storage.ErrNotFound, who)
	}
	return g.grower(who), nil
}

// TestCatalogTellsGrowersApart resumes runs of growing flows that other engines started. Each run grows by the flow on
// which it started, by name and definition. No other flow of the engine replaces it.
//
// Guarantee (G7): A growing flow continues on the name and definition it started with.
func TestCatalogTellsGrowersApart(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		g := growers{map[string]bool{"a": true, "b": true, "own@1": true, "own@2": true, "a@1": true}}
		opts = append(opts, engine.WithTasks(parts{s}))
		own := newEngine(t, g.grower("own"), append(opts, engine.WithCatalog(g))...)
		opts = append(opts, engine.WithStore(own.Store()))
		all := []string{"a", "b", "own", "own@1", "own@2", "a@1", "own@lost"}
		for _, who := range all {
			_, definition, defined := cut(who)
			var how []engine.RunOption
			if defined {
				how = append(how, engine.OnDefinition(definition))
			}
			if err := newEngine(t, g.grower(who), opts...).Start(t.Context(), who, how...); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // a plan compiled for one is not used for another
			for _, who := range all {
				res, err := own.Run(t.Context(), who)
				if err != nil {
					t.Fatal(err)
				}
				want := who
				if who == "own@lost" { // not in the catalog: the engine's own flow drives it
					want = "own"
				}
				if diff := cmp.Diff(atom.MustEncode(want), res.Output()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", who, diff)
				}
			}
		}
	})
}
