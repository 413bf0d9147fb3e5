package engine

import (
	"cmp"
	"context"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/storage"
)

// A guardedCatalog asks a catalog, which may panic. A catalog that cannot do something leaves it to the engine.
type guardedCatalog struct{ of Catalog }

func (c *guardedCatalog) flow(ctx context.Context, run *storage.Run) (root flow.Node, err error) {
	broke := guard.Call(func() { root, err = c.of.Flow(ctx, run) })
	return root, cmp.Or(broke, err)
}

// names returns the catalog if it knows its flows; nil otherwise.
func (c *guardedCatalog) names() NamingCatalog {
	names, _ := c.of.(NamingCatalog)
	return names
}

func (c *guardedCatalog) tasks(ctx context.Context, run *storage.Run) (tasks Tasks, err error) {
	if c == nil {
		return nil, nil //nolint:nilnil // the engine's
	}
	broke := guard.Call(func() {
		if of, ok := c.of.(TaskCatalog); ok {
			tasks, err = of.Tasks(ctx, run)
		}
	})
	return tasks, cmp.Or(broke, err)
}

func (c *guardedCatalog) complete(ctx context.Context, run *storage.Run) (err error) {
	if c == nil {
		return nil
	}
	broke := guard.Call(func() {
		if of, ok := c.of.(CompletingCatalog); ok {
			err = of.Complete(ctx, run)
		}
	})
	return cmp.Or(broke, err)
}

func (c *guardedCatalog) queue(ctx context.Context, run *grow.RunInfo, queue string) (err error) {
	if c == nil {
		return nil
	}
	broke := guard.Call(func() {
		if of, ok := c.of.(QueueCatalog); ok {
			err = of.Queue(ctx, run, queue)
		}
	})
	return cmp.Or(broke, err)
}
