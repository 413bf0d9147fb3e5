package engine

import (
	"context"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// ErrWaiting is returned, with [Unload] and without a result, if a run only waits: for a time, a message, or the
// completion of a token. The engine has released the run. Until it is run again, the run only occupies rows of the
// store.
var ErrWaiting = driver.ErrWaiting

// Unload lets Run return [ErrWaiting] as soon as the run only waits. Without it, Run waits with the run.
func Unload() RunOption { return unload{} }

type unload struct{}

func (unload) begin(*beginning) error { return nil }

// Existing lets Run only resume a run. If the run does not exist, perhaps because it was purged, Run creates
// nothing and returns an error that wraps [storage.ErrNotFound]. Without it, Run would start a new run with the
// same id.
func Existing() RunOption { return existing{} }

type existing struct{}

func (existing) begin(*beginning) error { return nil }

// Start creates a run and executes nothing. A process that serves the store, see [Engine.Serve], or that calls Run,
// drives the run. [Server.Start] also takes its first steps. If required inputs are missing, Start returns
// [flow.Problems]. If a run with that id exists, it returns an error that wraps [storage.ErrExists], and
// [ErrInputsDiffer] if it was started with other inputs. If a condition of [Unchanged] does not hold, the error wraps a
// *[storage.ConflictError].
func (e *Engine) Start(ctx context.Context, id string, opts ...RunOption) error {
	run, err := e.NewRun(id, opts...)
	if err != nil {
		return err
	}
	e.keepView(ctx, e.plan)
	return run.existing(ctx, e.env.Store, e.plan, run.create(ctx, e.env.Store))
}

// NewRun returns a new run of the engine's flow, for a [Source] or for [Server.Start]. It returns the errors of
// [Engine.Start], except those that only the store can detect.
func (e *Engine) NewRun(id string, opts ...RunOption) (NewRun, error) {
	return e.newRun(e.plan, id, opts)
}

func (e *Engine) newRun(p *flow.Plan, id string, opts []RunOption) (NewRun, error) {
	b, err := e.begin(p, id, opts)
	if err != nil {
		return NewRun{}, err
	}
	b.run.Due = b.run.Created
	b.run.Input = storage.Held{Data: b.whole}
	claim, snap, err := backend.ClaimNew(b.run, b.checks...)
	return NewRun{Due: backend.Due{Run: id, Claim: claim, Snapshot: snap}}, err
}
