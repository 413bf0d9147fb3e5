package conductor

import (
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/guard"
)

// A Ref names the flow that a run is started on: by name and version, or a stored definition by its hash.
type Ref struct {
	Flow       string // name of a flow of the catalog, or of stored definitions; ignored if Definition is set
	Version    int64  // version of that flow; 0 means the newest
	Definition string // hash of a stored definition
}

// Start starts a run without a job. It returns when the run's first commit is durable, and the conductor continues
// the run: see [engine.Server.Start], also for the errors. While the conductor does not run, Start only creates the
// run, for any process that serves the store. If neither the catalog nor the store has the flow, the error wraps
// [storage.ErrNotFound], and nothing was created.
func (c *Conductor) Start(ctx context.Context, run string, of Ref, opts ...engine.RunOption) error {
	fresh, err := c.newRun(ctx, run, of, opts)
	if err != nil {
		return err
	}
	return c.server.Start(ctx, fresh)
}

// anyFlow takes any input.
var anyFlow = atom.Func("any", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })

// newRun returns a new run. If a catalog or a language panics, newRun returns an error, so that other runs are not
// affected.
func (c *Conductor) newRun(ctx context.Context, run string, of Ref, opts []engine.RunOption,
) (fresh engine.NewRun, err error) {
	if broke := guard.Call(func() { fresh, err = c.made(ctx, run, of, opts) }); broke != nil {
		err = fmt.Errorf("conductor: the flow of run %q: %w", run, broke)
	}
	return fresh, err
}

func (c *Conductor) made(ctx context.Context, run string, of Ref, opts []engine.RunOption,
) (fresh engine.NewRun, err error) {
	var root flow.Node
	if of.Definition != "" {
		root, err = c.catalog.defined(ctx, of.Definition)
	} else {
		root, of.Definition, err = c.catalog.wanted(ctx, of, func() (atom.Value, error) {
			asked, err := c.server.NewRun(anyFlow, run, opts...)
			return asked.Snapshot.Run.Input.Data, err
		})
	}
	if err != nil {
		return fresh, err
	}
	if of.Definition != "" {
		opts = append(slices.Clip(opts), engine.OnDefinition(of.Definition))
	}
	return c.server.NewRun(root, run, opts...)
}
