package engine

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A host is the engine's implementation of [driver.Runs].
type host struct{ e *Engine }

var _ driver.Runs = host{}

// Prepare implements [driver.Runs].
func (h host) Prepare(ctx context.Context, run *storage.Run) error {
	if err := h.e.catalog.complete(ctx, run); err != nil {
		return err
	}
	if p := h.e.planOf(run); p != nil && run.Structure != "" {
		run.Secrets = secretsOf(p)
		return nil
	}
	if _, _, err := h.e.planFor(ctx, run, nil); h.e.catalog != nil && errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return nil
}

// Queue implements [driver.Runs].
func (h host) Queue(ctx context.Context, run *grow.RunInfo, queue string) error {
	return h.e.catalog.queue(ctx, run, queue)
}

// Drives implements [driver.Runs].
func (h host) Drives(flow string) bool { return h.e.catalog != nil || h.e.has(flow) }

// TasksOf implements [driver.Runs].
func (h host) TasksOf(ctx context.Context, run *storage.Run) (driver.Tasks, error) {
	tasks, err := h.e.catalog.tasks(ctx, run)
	if tasks == nil { // the engine's
		return nil, err
	}
	return tasks, err
}

// inMode is an option to drive a run in a mode.
type inMode struct{ mode driver.Mode }

// begin implements [RunOption].
func (inMode) begin(*beginning) error { return nil }

// DriveChild implements [driver.Runs]. If the run was just created, its claim begins with its first commit, and the
// engine does not load the run: both halve the cost of a short run. If the run has changed since it was created,
// the store refuses that commit.
func (h host) DriveChild(ctx context.Context, id string, made *storage.Run, m driver.Mode) error {
	e := h.e
	if made != nil {
		d, snap, err := e.takenOver(ctx, id, nil, func() (backend.Claim, *backend.Snapshot, error) {
			claim, snap, err := backend.ClaimNew(*made)
			claim.New = nil
			return claim, snap, err
		})
		if err != nil {
			return err
		}
		m.Since = d.Mode.Since
		d.Mode = m
		_, err = e.finish(ctx, d, snap, toGoOn, nil)
		if d.Owns() || !errors.Is(err, storage.ErrFenced) && !errors.Is(err, storage.ErrLimited) {
			return err
		}
	}
	opts := []RunOption{inMode{m}, Existing()}
	if m.Unload {
		opts = append(opts, Unload())
	}
	_, err := e.Run(ctx, id, opts...)
	return err
}

// Release implements [driver.Runs].
func (h host) Release(ctx context.Context, claim backend.Claim) { h.e.claims.releaseSoon(ctx, claim) }
