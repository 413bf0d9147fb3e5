package engine

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/storage"
)

// ErrWaiting is returned, with [Unload] and without a result, if a run only waits:
// for a time, a message, or the completion of a token. The engine has released the
// run, which then occupies only rows of the store until it is run again.
var ErrWaiting = driver.ErrWaiting

// Unload lets Run return [ErrWaiting] as soon as the run only waits, instead of
// waiting with it.
func Unload() RunOption { return unload{} }

type unload struct{}

func (unload) begin(*beginning) error { return nil }

// Start creates a run but executes nothing. A process that serves the store, see
// [Engine.Serve], or runs the run drives it. If the flow needs inputs that are not
// given, Start returns [flow.Problems]. If there is a run of that id, it returns a
// *[StoreError] that wraps [storage.ErrExists].
func (e *Engine) Start(ctx context.Context, id string, opts ...RunOption) error {
	b, err := e.begin(id, opts)
	if err != nil {
		return err
	}
	b.run.Created = e.now()
	b.run.Due = b.run.Created
	b.run.Input = storage.Held{Data: b.whole}
	return wrapStore(id, e.env.Store.Create(ctx, b.run))
}

// A NewRun is a run that does not exist yet. Create one with [Engine.NewRun]. [Server.Serve]
// stores the run with its first commit, so a stored run has always begun. Only if
// limits leave no place for the run, Serve stores it as due without beginning it.
type NewRun struct {
	storage.Due
	// Refused is called with the reason if the run was not created, or not begun. It may
	// return an error to be logged. It may be nil. The store's errors are *[StoreError].
	Refused func(ctx context.Context, why error) error

	tried time.Duration // how long it is on trial; 0 is not
	taken bool          // it is to be taken over first
}

// NewRun returns a new run of the engine's flow, for a [Source]. It returns the errors
// of [Engine.Start], except those that only the store can detect.
func (e *Engine) NewRun(id string, opts ...RunOption) (NewRun, error) {
	b, err := e.begin(id, opts)
	if err != nil {
		return NewRun{}, err
	}
	b.run.Created = e.now()
	b.run.Due = b.run.Created
	b.run.Input = storage.Held{Data: b.whole}
	claim, snap, err := storage.ClaimNew(b.run)
	return NewRun{Due: storage.Due{Run: id, Claim: claim, Snapshot: snap}}, err
}

// A Source finds new runs, up to free of them.
type Source func(ctx context.Context, free int) ([]NewRun, error)
