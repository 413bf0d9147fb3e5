package engine

import (
	"context"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/memorybudget"
	"github.com/ebbflow/ebb/storage"
)

// Recorded returns the scheduler of a run of a planned flow, made only from the stored records.
func (e *Engine) Recorded(ctx context.Context, id string) (*scheduler.Scheduler, error) {
	run, err := e.env.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	atoms, err := e.env.Store.Atoms(ctx, id, storage.AtomQuery{})
	if err != nil {
		return nil, err
	}
	d, err := e.driver(ctx, e.plan, backend.Claim{Run: id}, &backend.Snapshot{Run: run, Atoms: atoms})
	if err != nil {
		return nil, err
	}
	d.Close()
	return d.Scheduler(), nil
}

// MeasureMemory makes an engine use the result of used as the memory in use.
func (e *Engine) MeasureMemory(used func() int64) {
	e.env.Memory.Used = func() memorybudget.Use { return memorybudget.Use{Live: used()} }
}

// OpenSize is the size that an open node or child flow counts against the memory budget.
const OpenSize = driver.OpenSize

// WaitScale is what [WithWaitScale] sets for the engines of a server.
func WaitScale(scale float64) Option { return waitScale(scale) }

// WithStore makes an engine keep its runs in s instead of in the store that [New] got.
func WithStore(s storage.Store) Option {
	return option(func(e *Engine) error { e.env.Store = backend.Of(s); return nil })
}

// Store returns the store of the engine's runs.
func (e *Engine) Store() backend.Store { return e.env.Store }
