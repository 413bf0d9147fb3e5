package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// claims releases claims. It remembers claims that the store could not release, of runs that the process no longer
// drives.
type claims struct {
	store backend.Store
	log   hclog.Logger

	mu   sync.Mutex
	left map[string]backend.Claim // by id of the run
}

func (c *claims) put(claim backend.Claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == nil {
		c.left = map[string]backend.Claim{}
	}
	c.left[claim.Run] = claim
}

// take removes and returns the claim of a run; if run is "", of any run.
func (c *claims) take(run string) (backend.Claim, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, claim := range c.left {
		if run == "" || id == run {
			delete(c.left, id)
			return claim, true
		}
	}
	return backend.Claim{}, false
}

// releaseDue releases a claim. The run is then due at once. If the claim is void, releaseDue returns nil.
func (c *claims) releaseDue(ctx context.Context, claim backend.Claim) error {
	wakeups, _, err := c.store.Messages(ctx, claim.Run, math.MaxInt64)
	if err == nil {
		err = c.release(ctx, claim, wakeups, c.store.Now())
	}
	if errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// release releases a run until it is due. If a message has arrived since the wakeup counter was read, the run is
// due at once.
func (c *claims) release(ctx context.Context, claim backend.Claim, wakeups int64, due time.Time) error {
	err := c.store.Release(ctx, claim, wakeups, due)
	for errors.Is(err, storage.ErrNewMessages) {
		if wakeups, _, err = c.store.Messages(ctx, claim.Run, math.MaxInt64); err == nil {
			err = c.store.Release(ctx, claim, wakeups, c.store.Now())
		}
	}
	return err
}

// releaseLeft releases a run whose release failed before; if run is "", all such runs.
func (c *claims) releaseLeft(ctx context.Context, run string) error {
	for {
		claim, ok := c.take(run)
		if !ok {
			return nil
		}
		if err := c.releaseDue(ctx, claim); err != nil {
			c.put(claim)
			return session.Wrap(claim.Run, err)
		}
	}
}

// releaseUndriven releases a run that was not driven. It is due at once, because the takeover removed its due time,
// unless the run has ended and its inbox needs no other process.
func (c *claims) releaseUndriven(ctx context.Context, claim backend.Claim, snap *backend.Snapshot) error {
	if claim.Begins > 0 { // the claim has not begun: there is nothing to release
		return nil
	}
	needs := func(l storage.Message) bool { return !inbox.Outlasts(&l) }
	due := c.store.Now()
	if snap.Run.State.Ended() && !slices.ContainsFunc(snap.Messages, needs) {
		due = time.Time{}
	}
	return session.Wrap(claim.Run, c.release(context.WithoutCancel(ctx), claim, snap.Run.Wakeups, due))
}

// releaseAfter releases a run after err stopped its driver, so that the next owner does not wait for this process
// to die.
func (c *claims) releaseAfter(ctx context.Context, d *driver.Driver, err error) {
	if !d.Owns() && (errors.Is(err, storage.ErrFenced) || errors.Is(err, storage.ErrExists) ||
		errors.Is(err, storage.ErrLimited) || errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrTaken) ||
		errors.Is(err, storage.ErrKeyTaken)) {
		return // the run was not taken over: another process has it, a limit is reached, or a condition does not hold
	}
	c.releaseSoon(context.WithoutCancel(ctx), d.Claim)
}

// releaseSoon releases a claim. If the store does not answer, the process releases the run later. Otherwise the
// process would own the run until the process dies.
func (c *claims) releaseSoon(ctx context.Context, claim backend.Claim) {
	if err := c.releaseDue(ctx, claim); err != nil {
		c.log.Debug(logevent.RunReleaseDelayed, "run", claim.Run, "error", err)
		c.put(claim)
	}
}
